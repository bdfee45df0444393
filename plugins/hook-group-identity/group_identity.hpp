// SPDX-License-Identifier: Apache-2.0
// Computes the scheduling priority of a pod by its class: a group identity on kernels that have it, or else cpu.idle or
// the fewest shares. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::group_identity {

inline constexpr std::string_view kAnnotation = "koordinator.sh/cpuQOS";  // annotation of a pod of the class LS
inline constexpr std::int64_t kLeastIdentity = -1, kMostIdentity = 2;     // values of cpu.bvt_warp_ns
inline constexpr std::int64_t kFewestShares = 2;

// The identity of each class; nullopt: the class is off.
struct Identities {
  std::optional<std::int64_t> lsr, ls, be, system;

  bool operator==(const Identities&) const = default;
};

// Reads a NodeSLO's spec. All classes are off while cpuPolicy names a different mechanism. Fails if the text is not a
// JSON mapping.
Result<Identities> parse_identities(std::string_view node_slo);

// Reads a pod's annotation. nullopt: the text is empty. 0: the pod has no identity. An error names the annotation and
// what was expected.
Result<std::optional<std::int64_t>> parse_identity(std::string_view annotation);

enum class KubeQos { guaranteed, burstable, best_effort };

struct PodFacts {
  std::string_view label;  // koordinator.sh/qosClass; empty: missing
  KubeQos kube_qos = KubeQos::burstable;
  std::optional<std::int64_t> own;  // value of the annotation
  bool has_batch_resources = false;
};

// Returns nullopt if the pod's class is off.
std::optional<std::int64_t> identity_of(const PodFacts& pod, const Identities& identities);

// The knobs that the kernel has.
struct Kernel {
  bool has_identities = false, has_idle = false;
};

// Fields of the pod; nullopt: unchanged.
struct Adjustment {
  std::optional<std::int64_t> bvt_warp, idle, shares;

  bool operator==(const Adjustment&) const = default;
};

Adjustment adjust(const PodFacts& pod, const Identities& identities, const Kernel& kernel);

}  // namespace koord::group_identity
