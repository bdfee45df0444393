// SPDX-License-Identifier: Apache-2.0
// The limits of a best-effort pod from its batch resources (kubernetes.io/batch-cpu and batch-memory), which the
// kubelet does not translate. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace koord::batch {

// An init container runs before the regular ones, and ends; a sidecar starts among the init containers, and goes on.
enum class Kind { regular, init, sidecar };

// One container's amounts, milli-cores and bytes; nullopt: the container does not have it.
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

// nullopt: the container has no batch resource.
std::optional<Limits> limits_of(const Amounts& container);

// Returns the pod's: the largest need of its containers at one time. Init containers and sidecars are in the order of
// the spec. A container without a limit leaves the pod without one. nullopt: no container has a batch resource.
std::optional<Limits> limits_of(const std::vector<Amounts>& containers);

}  // namespace koord::batch
