// SPDX-License-Identifier: Apache-2.0
// Holding: the resources of the node that a pod uses, which its end releases. [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/evict/request.hpp"
#include "core/state/pod.hpp"
#include "core/store/store.hpp"

namespace koord::evict {

// Usage of a pod; nothing: not measured.
struct Usage {
  std::optional<std::int64_t> cpu_milli;
  std::optional<std::int64_t> memory_bytes;
};
using UsageByPod = std::map<std::string, Usage, std::less<>>;  // by uid

// The newest of pod_cpu_usage and pod_memory_usage that the metric cache has, a minute old at most.
UsageByPod read_usage(const store::Store& cache, Time now);

struct Holding {
  Usage usage;
  std::vector<state::Resource> resources;

  // 0: nothing, or unknown.
  std::int64_t of(const Release& release) const;
};

}  // namespace koord::evict
