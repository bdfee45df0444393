// SPDX-License-Identifier: Apache-2.0
// The limits of a best-effort pod from its batch resources (kubernetes.io/batch-cpu and batch-memory), which the kubelet does not
// translate. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace koord::batch {

// One container's amounts, milli-cores and bytes; nullopt: the container does not have it.
struct Amounts {
  std::optional<std::int64_t> cpu_request, cpu_limit, memory_limit;
  bool is_init = false;  // runs before the others, and ends

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

// Returns the pod's: its containers' largest need at one time. A container without a limit leaves the pod without one. nullopt: no
// container has a batch resource.
std::optional<Limits> limits_of(const std::vector<Amounts>& containers);

}  // namespace koord::batch
