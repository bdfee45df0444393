// SPDX-License-Identifier: Apache-2.0
// The metrics of one kind of latency at one level (node, pod or container), and the series of one subject: a histogram
// of all delays since the agent first saw it, and gauges of the last period. Used on the plugin's strand.
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
  std::string prefix;              // "node_sched" defines "node_sched_latency_seconds" and its gauges
  std::string what;                // the rest of the help after "How long …", without a full stop: "threads waited"
  std::vector<int> percents = {};  // percents of the quantiles that have gauges
  bool has_histogram = true;       // a histogram has about 15 series for each subject
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

// Counts to which the histograms of a batch point. They must live until the batch is sent.
using CumulativeCounts = std::deque<std::vector<std::uint64_t>>;

class LatencySeries {
 public:
  LatencySeries() = default;
  LatencySeries(const LatencyMetrics& metrics, std::uint64_t subject, std::initializer_list<plugin::Label> labels = {});

  // Adds a window to the running total and adds both to the batch. If the histogram has no buckets, only the mean is
  // added. A gauge gets no value if the window has no delays.
  void report(const Histogram& window, plugin::Batch& batch, CumulativeCounts& counts);

 private:
  struct Quantile {
    std::uint64_t series;
    double p;
  };
  std::uint64_t histogram_ = 0, mean_ = 0;
  std::vector<Quantile> quantiles_;
  std::unique_ptr<Histogram> total_;  // null: no histogram is exported
};

}  // namespace koord::latency
