// SPDX-License-Identifier: Apache-2.0
// The metric series of verdicts about the CPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/verdict.hpp"
#include "koordetector/plugin.hpp"

namespace koord::interference {

inline constexpr analysis::Kind kCpuKinds[] = {analysis::Kind::interfered, analysis::Kind::shared_parent,
                                               analysis::Kind::self_quota, analysis::Kind::self_threads};

// Causes of waits, in the order of their series.
inline constexpr const char* kWaitCauses[] = {"others", "self", "throttled", "kernel", "outside", "unexplained"};

struct CpuMetrics {
  plugin::Metric interference, held_up, waits;
};

// The series of a container. A pod has no series, so its `kinds` is empty.
struct CpuSeries {
  CpuSeries(const CpuMetrics& metrics, std::uint64_t subject, bool is_pod) : handle(subject) {
    if (is_pod) return;
    for (const analysis::Kind kind : kCpuKinds)
      kinds.push_back(
          metrics.interference.series(subject, {{"resource", "cpu"}, {"kind", std::string(analysis::name_of(kind))}}));
    held_up = metrics.held_up.series(subject, {{"resource", "cpu"}, {"over", "1ms"}});
    for (const char* cause : kWaitCauses)
      waits.push_back(metrics.waits.series(subject, {{"resource", "cpu"}, {"cause", cause}}));
    waited.resize(waits.size());
  }

  std::uint64_t handle, held_up = 0;
  std::vector<std::uint64_t> kinds, waits;
  std::vector<double> waited;  // seconds since the agent first saw the container
};

}  // namespace koord::interference
