// SPDX-License-Identifier: Apache-2.0
// TakeoverSource: values that another agent left on this node. Reads and writes files in the calling thread; for one
// call at a time. [any thread]
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace koord::api {

// A value that koordlet left, as text.
struct TakeoverLine {
  std::string cgroup_dir, knob;  // the knob with the item of one that has items; "resctrl": a group
  std::string pod, container;    // empty: of no pod
  std::string value, base, why;
  std::string now = {};     // read back; empty: nothing was written
  std::string result = {};  // "applied", "failed", …; empty in a dry run
  std::string problem = {};
};

struct TakeoverReport {
  std::vector<TakeoverLine> lines;
  std::size_t read = 0;               // knobs that this node has
  std::size_t held = 0;               // knobs that strategies of this agent hold, which are left out
  bool are_pods_known = false;        // false: only classes and groups of resctrl were compared
  std::size_t pods_without_spec = 0;  // only the cgroups of this many pods are known: their quotas were not compared
};

class TakeoverSource {
 public:
  virtual ~TakeoverSource() = default;

  virtual TakeoverReport list() const = 0;
  // The same, and sets each value to its base. Values that change meanwhile are reported as they are then.
  virtual TakeoverReport apply() const = 0;
};

}  // namespace koord::api
