// SPDX-License-Identifier: Apache-2.0
// Computes the limits of a best-effort pod from its batch resources (kubernetes.io/batch-cpu and batch-memory), which
// the kubelet ignores. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace koord::batch {

// An init container runs before the regular containers and ends. A sidecar starts in the order of the init containers
// and keeps running.
enum class Kind { regular, init, sidecar };

// A container's amounts in milli-cores and bytes; nullopt: not set.
struct Amounts {
  std::optional<std::int64_t> cpu_request, cpu_limit, memory_limit;
  Kind kind = Kind::regular;

  bool is_batch() const { return cpu_request || cpu_limit || memory_limit; }
};

inline constexpr std::int64_t kNoLimit = -1;

// Values of cgroup files: CPU shares, µs of CPU per 100 ms, bytes; or kNoLimit.
struct Limits {
  std::int64_t shares = 0, quota = kNoLimit, memory = kNoLimit;

  bool operator==(const Limits&) const = default;
};

// Returns nullopt if the container has no batch resource.
std::optional<Limits> limits_of(const Amounts& container);

// Returns the pod's limits, which are the maximum that its containers need at the same time. Init containers and
// sidecars are in the order of the spec. If a container has no limit, the pod has none. nullopt: no container has a
// batch resource.
std::optional<Limits> limits_of(const std::vector<Amounts>& containers);

}  // namespace koord::batch
