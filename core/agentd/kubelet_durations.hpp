// SPDX-License-Identifier: Apache-2.0
// KubeletDurations: durations of the kubelet's answers, for the agent's own metric and for koordlet's equivalent. [any
// thread]
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/clock.hpp"
#include "core/metric/host_metrics.hpp"

namespace koord::agentd {

class KubeletDurations {
 public:
  // The bounds of koordlet's histogram, in seconds.
  static constexpr std::array kBounds = {0.001, 0.004, 0.016, 0.064, 0.256, 1.024, 4.096};

  struct Histogram {
    std::array<std::uint64_t, kBounds.size()> at_most{};  // answers within each bound
    std::uint64_t count = 0;
    double sum = 0;
  };
  using Key = std::pair<std::string, std::string>;  // path, status ("error": no answer)

  explicit KubeletDurations(metric::HostMetrics& metrics) : metrics_(metrics) {}

  // Records the duration of a GET. `status` 0: no answer came.
  void observe(std::string_view path, unsigned status, Duration took);

  std::map<Key, Histogram> all() const;

 private:
  metric::HostMetrics& metrics_;
  mutable std::mutex mutex_;
  std::map<Key, Histogram> histograms_;
};

}  // namespace koord::agentd
