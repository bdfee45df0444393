// SPDX-License-Identifier: Apache-2.0
// The metrics of scheduling latency, of one level (node, pod or container) each, and the series of one
// subject. Used on the plugin's strand.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-sched-latency/sched_latency.hpp"

namespace koord::sched_latency {

// Defines "<level>_sched_latency_seconds" and the gauges beside it.
struct LevelMetrics {
  LevelMetrics() = default;
  LevelMetrics(const koord_host* host, const std::string& level);

  plugin::Metric histogram, mean, p50, p95, p99;
};

// Counts that a batch of histograms points to; they live until it is sent.
using CumulativeCounts = std::deque<std::vector<std::uint64_t>>;

class SubjectSeries {
 public:
  SubjectSeries() = default;
  SubjectSeries(const LevelMetrics& metrics, std::uint64_t subject);

  // Adds a window to the running total and puts total and window into the batch. Without buckets only the
  // mean.
  void report(const Histogram& window, plugin::Batch& batch, CumulativeCounts& counts);

 private:
  std::uint64_t histogram_ = 0, mean_ = 0, p50_ = 0, p95_ = 0, p99_ = 0;
  Histogram total_;
};

}  // namespace koord::sched_latency
