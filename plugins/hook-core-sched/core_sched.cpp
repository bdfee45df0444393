// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-core-sched/core_sched.hpp"

#include <algorithm>

namespace koord::core_sched {
namespace {

// Returns whether the text is a valid Kubernetes label value.
bool is_label_value(std::string_view text) {
  constexpr std::size_t kMost = 63;
  return text.size() <= kMost && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
                  c == '.';
         });
}

Adjustment ignored(std::string_view label, std::string_view value, const char* expected) {
  return {std::nullopt, std::string(label) + " is '" + std::string(value.substr(0, 100)) + "', expected " + expected +
                            "; its containers keep their group"};
}

}  // namespace

// Returns the group. Prefixes separate groups that a label could otherwise mix up: named groups, pod UIDs, and groups
// of expellers.
Adjustment adjust(const PodLabels& pod, const Rules& rules) {
  if (!rules.is_on) return {};
  if (pod.policy == "none") return {""};
  const std::string prefix = rules.is_expeller ? "expeller/" : "";
  if (pod.policy == "exclusive") return {prefix + "pod/" + std::string(pod.uid)};
  if (!pod.policy.empty()) return ignored(kPolicyLabel, pod.policy, "none, exclusive or no value");
  if (!is_label_value(pod.group)) return ignored(kGroupLabel, pod.group, "the value of a label");
  return {prefix + "group/" + std::string(pod.group)};
}

}  // namespace koord::core_sched
