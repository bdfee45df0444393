// SPDX-License-Identifier: Apache-2.0
// Lists the values that koordlet left on this node, and sets them to their bases (takeover.hpp). Reads and writes files
// in the calling thread. Only one call at a time. [any thread]
#pragma once

#include <vector>

#include "core/api/takeover_source.hpp"
#include "core/base/clock.hpp"
#include "core/base/node_roots.hpp"
#include "core/cgroup/layout.hpp"
#include "core/knob/governor.hpp"
#include "core/state/hub.hpp"

namespace koord::agentd {

class KoordletTakeover final : public api::TakeoverSource {
 public:
  // All references must outlive this object. `has_specs`: the source of the pods provides their specs, not only their
  // cgroups.
  KoordletTakeover(const Clock& clock, const cgroup::Layout& layout, const NodeRoots& roots, const state::Hub& hub,
                   const knob::Governor& governor, bool has_specs);

  api::TakeoverReport list() const override;
  api::TakeoverReport apply() const override;

 private:
  struct Found;
  Found find() const;
  std::vector<api::TakeoverLine> groups(bool and_remove) const;

  const Clock& clock_;
  const cgroup::Layout layout_;
  const NodeRoots roots_;
  const state::Hub& hub_;
  const knob::Governor& governor_;
  const bool has_specs_;
};

}  // namespace koord::agentd
