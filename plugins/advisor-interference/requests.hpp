// SPDX-License-Identifier: Apache-2.0
// Requests of a container: CPUs and bytes of memory, or the requests of the class batch or mid if they are larger.
// Header-only. [any thread]
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "koordetector/plugin.hpp"

namespace koord::interference {

// NaN: no request.
struct Requests {
  double cpus = std::numeric_limits<double>::quiet_NaN(), memory_bytes = std::numeric_limits<double>::quiet_NaN();
};

inline Requests requests_of(const koord_container& container) {
  constexpr std::array<std::string_view, 3> kCpus{"cpu", "kubernetes.io/batch-cpu", "kubernetes.io/mid-cpu"};
  constexpr std::array<std::string_view, 3> kBytes{"memory", "kubernetes.io/batch-memory", "kubernetes.io/mid-memory"};
  const auto take = [](double& sum, double value) { sum = std::isnan(sum) ? value : std::max(sum, value); };
  Requests requests;
  const plugin::Strided<koord_resource> resources(container.resources, container.n_resources,
                                                  container.resource_stride);
  for (const koord_resource& resource : resources) {
    if (resource.request == KOORD_ABSENT || resource.request < 0) continue;
    const std::string_view name = plugin::view(resource.name);
    const auto amount = static_cast<double>(resource.request);
    if (std::find(kCpus.begin(), kCpus.end(), name) != kCpus.end()) take(requests.cpus, amount / 1000);
    if (std::find(kBytes.begin(), kBytes.end(), name) != kBytes.end()) take(requests.memory_bytes, amount);
  }
  return requests;
}

}  // namespace koord::interference
