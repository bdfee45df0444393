// SPDX-License-Identifier: Apache-2.0
// Computes the core-scheduling group of a container from labels of its pod and the NodeSLO. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace koord::core_sched {

inline constexpr std::string_view kGroupLabel = "koordinator.sh/core-sched-group-id";
inline constexpr std::string_view kPolicyLabel = "koordinator.sh/core-sched-policy";

// Values of the labels; empty: missing.
struct PodLabels {
  std::string_view uid, group = {}, policy = {};
};

// The settings of the NodeSLO for the pod's class.
struct Rules {
  bool is_on = false;        // cpuPolicy is coreSched and the class is enabled
  bool is_expeller = false;  // coreExpeller of the class
};

struct Adjustment {
  std::optional<std::string> group;  // nullopt: unchanged; "": the common group of containers without a group
  std::string problem = {};          // why a label is ignored; empty: none is ignored

  bool operator==(const Adjustment&) const = default;
};

Adjustment adjust(const PodLabels& pod, const Rules& rules);

}  // namespace koord::core_sched
