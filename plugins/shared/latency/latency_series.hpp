// SPDX-License-Identifier: Apache-2.0
// The metrics of one kind of latency at one level (node, pod or container), and the series of one subject: a histogram
// of all delays since the agent met it, and gauges of the last period. Used on the plugin's strand.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/shared/latency/histogram.hpp"

namespace koord::latency {

struct LatencyNames {
  std::string prefix;              // "node_sched": defines "node_sched_latency_seconds" and the gauges beside it
  std::string what;                // how the help goes on after "How long …", without an end: "threads waited"
  std::vector<int> percents = {};  // of the quantiles that become gauges
  bool has_histogram = true;       // which is some 15 series for each subject
};

struct LatencyMetrics {
  LatencyMetrics() = default;
  LatencyMetrics(const koord_host* host, const LatencyNames& names);

  struct Quantile {
    plugin::Metric metric;
    double p = 0;
  };
  plugin::Metric histogram, mean;
  std::vector<Quantile> quantiles;
  bool has_histogram = false;
};

// Counts that a batch of histograms points to; they live until it is sent.
using CumulativeCounts = std::deque<std::vector<std::uint64_t>>;

class LatencySeries {
 public:
  LatencySeries() = default;
  LatencySeries(const LatencyMetrics& metrics, std::uint64_t subject, std::initializer_list<plugin::Label> labels = {});

  // Adds a window to the running total and puts total and window into the batch. Without buckets only the mean; a gauge
  // is absent when nothing happened in the window.
  void report(const Histogram& window, plugin::Batch& batch, CumulativeCounts& counts);

 private:
  struct Quantile {
    std::uint64_t series;
    double p;
  };
  std::uint64_t histogram_ = 0, mean_ = 0;
  std::vector<Quantile> quantiles_;
  std::unique_ptr<Histogram> total_;  // null without a histogram
};

}  // namespace koord::latency
