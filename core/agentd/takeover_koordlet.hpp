// SPDX-License-Identifier: Apache-2.0
// Lists what koordlet left on this node, and sets it to the bases (takeover.hpp). Reads and writes files in the calling thread;
// for one call at a time. [any thread]
#pragma once

#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/node_roots.hpp"
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
  bool are_pods_known = false;        // false: only classes and groups of resctrl were compared
  std::size_t pods_without_spec = 0;  // only the cgroups of so many pods are known: their quotas were not compared
};

class KoordletTakeover {
 public:
  // All outlive it. `has_specs`: the source of the pods knows their specs, not only their cgroups.
  KoordletTakeover(const Clock& clock, const cgroup::Layout& layout, const NodeRoots& roots, const state::Hub& hub, const knob::Governor& governor,
                   bool has_specs);

  TakeoverReport list() const;
  // The same, and sets each to its base. Values that change meanwhile are reported as they are then.
  TakeoverReport apply() const;

 private:
  struct Found;
  Found find() const;
  std::vector<TakeoverLine> groups(bool and_remove) const;

  const Clock& clock_;
  const cgroup::Layout layout_;
  const NodeRoots roots_;
  const state::Hub& hub_;
  const knob::Governor& governor_;
  const bool has_specs_;
};

}  // namespace koord::agentd
