// SPDX-License-Identifier: Apache-2.0
// Lists what koordlet left on this node, and sets it to the bases (takeover.hpp). Reads and writes files in the calling thread;
// for one call at a time. [any thread]
#pragma once

#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "core/cgroup/layout.hpp"
#include "core/knob/governor.hpp"
#include "core/state/hub.hpp"

namespace koord::agentd {

// A value that koordlet left, as text.
struct TakeoverLine {
  std::string cgroup_dir, knob;  // the knob with the item of one that has items; "resctrl": a group
  std::string pod, container;    // empty: of no pod
  std::string value, base, why;
  std::string now = {};      // read back; empty: nothing was written
  std::string result = {};   // "applied", "failed", …; empty in a dry run
  std::string problem = {};
};

struct TakeoverReport {
  std::vector<TakeoverLine> lines;
  std::size_t read = 0;  // knobs that this node has
  std::size_t held = 0;  // knobs that strategies of this agent hold, which are left out
};

class KoordletTakeover {
 public:
  // All outlive it.
  KoordletTakeover(const Clock& clock, const cgroup::Layout& layout, const NodeRoots& roots, const state::Hub& hub, const knob::Governor& governor);

  // An error: the pods are not known, so no base is.
  Result<TakeoverReport> list() const;
  // The same, and sets each to its base. Values that change meanwhile are reported as they are then.
  Result<TakeoverReport> apply() const;

 private:
  struct Found;
  Result<Found> find() const;
  std::vector<TakeoverLine> groups(bool and_remove) const;

  const Clock& clock_;
  const cgroup::Layout layout_;
  const NodeRoots roots_;
  const state::Hub& hub_;
  const knob::Governor& governor_;
};

}  // namespace koord::agentd
