// SPDX-License-Identifier: Apache-2.0
// A pod's own labels and annotations about its eviction, as Koordinator names them:
//   annotation koordinator.sh/eviction-policy    a JSON list of features; only these may evict the pod
//   label      koordinator.sh/eviction-enabled   "true": features that use priorities may evict the pod
//   annotation koordinator.sh/eviction-priority  a 32-bit integer; compared first, lower values are evicted first
//   label      koordinator.sh/priority           an integer; orders pods of one priority, lower values first
// An unreadable policy protects the pod; other unreadable values count as unset. Pure. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace koord::eviction {

inline constexpr std::string_view kPolicyAnnotation = "koordinator.sh/eviction-policy";
inline constexpr std::string_view kEnabledLabel = "koordinator.sh/eviction-enabled";
inline constexpr std::string_view kOrderAnnotation = "koordinator.sh/eviction-priority";
inline constexpr std::string_view kSubPriorityLabel = "koordinator.sh/priority";

// The features that may evict a pod. Default-constructed: all features.
class Policy {
 public:
  Policy() = default;
  // Parses the annotation. If it is not a list of strings, no feature may evict the pod.
  explicit Policy(std::string_view annotation);

  bool allows(std::string_view feature) const;
  bool is_readable() const { return readable_; }

 private:
  bool readable_ = true;
  std::optional<std::vector<std::string>> features_;  // nullopt: all features
};

// Parses the annotation; returns 0 if it is not a 32-bit integer.
std::int32_t order_of(std::string_view annotation);
// Parses the label; returns nullopt if it is not a 64-bit integer.
std::optional<std::int64_t> sub_priority_of(std::string_view label);

}  // namespace koord::eviction
