// SPDX-License-Identifier: Apache-2.0
// TakeoverSource: values that koordlet left on this node. Reads and writes files in the calling thread, one call at a
// time. [any thread]
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace koord::api {

// A value that koordlet left, as text.
struct TakeoverLine {
  std::string cgroup_dir, knob;  // the knob, with its item if it has items; "resctrl": a group
  std::string pod, container;    // empty: no pod
  std::string value, base, why;
  std::string now = {};     // read after the write; empty: nothing was written
  std::string result = {};  // "applied", "failed", …; empty in a dry run
  std::string problem = {};
};

struct TakeoverReport {
  std::vector<TakeoverLine> lines;
  std::size_t read = 0;               // knobs that this node has
  std::size_t held = 0;               // omitted knobs, because strategies of this agent hold them
  bool are_pods_known = false;        // false: only classes and resctrl groups were compared
  std::size_t pods_without_spec = 0;  // pods with known cgroups and unknown specs; their quotas were not compared
};

class TakeoverSource {
 public:
  virtual ~TakeoverSource() = default;

  virtual TakeoverReport list() const = 0;
  // Returns the same report, and sets each value to its base. Values that change meanwhile are reported with their new
  // value.
  virtual TakeoverReport apply() const = 0;
};

}  // namespace koord::api
