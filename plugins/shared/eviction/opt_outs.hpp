// SPDX-License-Identifier: Apache-2.0
// A pod's own labels and annotations about its eviction, as Koordinator names them:
//   annotation koordinator.sh/eviction-policy    a JSON list of features; only these may evict the pod
//   label      koordinator.sh/eviction-enabled   "true": features that go by priority may evict the pod
//   annotation koordinator.sh/eviction-priority  a whole number of 32 bits; the lower goes first, before all else
//   label      koordinator.sh/priority           a whole number; orders pods of one priority, the lower goes first
// An unreadable value protects the pod, or counts as unset. Pure. [any thread]
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

// The features that may evict a pod. Made without a text: all.
class Policy {
 public:
  Policy() = default;
  // The annotation's text. One that is not a list of texts lets no feature evict the pod.
  explicit Policy(std::string_view annotation);

  bool allows(std::string_view feature) const;
  bool is_readable() const { return readable_; }

 private:
  bool readable_ = true;
  std::optional<std::vector<std::string>> features_;  // nullopt: each
};

// 0 when the text is no whole number of 32 bits.
std::int32_t order_of(std::string_view annotation);
// Nothing when the text is no whole number of 64 bits.
std::optional<std::int64_t> sub_priority_of(std::string_view label);

}  // namespace koord::eviction
