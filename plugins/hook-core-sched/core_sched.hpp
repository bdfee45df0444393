// SPDX-License-Identifier: Apache-2.0
// The core-scheduling group of a container, from labels of its pod and the NodeSLO. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace koord::core_sched {

inline constexpr std::string_view kGroupLabel = "koordinator.sh/core-sched-group-id";
inline constexpr std::string_view kPolicyLabel = "koordinator.sh/core-sched-policy";

// The values of the labels; empty: the pod does not have it.
struct PodLabels {
  std::string_view uid, group = {}, policy = {};
};

// The settings of the NodeSLO for the pod's class.
struct Rules {
  bool is_on = false;        // cpuPolicy coreSched, the class enabled
  bool is_expeller = false;  // coreExpeller of the class
};

struct Adjustment {
  std::optional<std::string> group;  // nullopt: as it is; "": with all without a group
  std::string problem = {};          // why a label is ignored; empty: no label is ignored

  bool operator==(const Adjustment&) const = default;
};

Adjustment adjust(const PodLabels& pod, const Rules& rules);

}  // namespace koord::core_sched
