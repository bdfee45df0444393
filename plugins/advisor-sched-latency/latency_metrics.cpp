// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-sched-latency/latency_metrics.hpp"

#include <limits>
#include <optional>

namespace koord::sched_latency {
namespace {

constexpr double kResolution = 1e-6;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

plugin::Metric gauge(const koord_host* host, const std::string& name, const std::string& help) {
  return {host, {name, "seconds", help, kResolution}};
}

}  // namespace

LevelMetrics::LevelMetrics(const koord_host* host, const std::string& level) {
  const std::string name = level + "_sched_latency_";
  const std::string what = "the threads of a " + level + " waited for a CPU before they ran, in seconds.";
  histogram = {host,
               {name + "seconds", "seconds", "How long " + what, kResolution, KOORD_HISTOGRAM,
                KOORD_METRIC_EXPORT, exported_bounds_seconds()}};
  mean = gauge(host, name + "mean_seconds", "How long on average in the last period " + what);
  p50 = gauge(host, name + "p50_seconds", "How long at most for half the waits of the last period " + what);
  p95 =
      gauge(host, name + "p95_seconds", "How long at most for 95 % of the waits of the last period " + what);
  p99 =
      gauge(host, name + "p99_seconds", "How long at most for 99 % of the waits of the last period " + what);
}

SubjectSeries::SubjectSeries(const LevelMetrics& metrics, std::uint64_t subject)
    : histogram_(metrics.histogram.series(subject)),
      mean_(metrics.mean.series(subject)),
      p50_(metrics.p50.series(subject)),
      p95_(metrics.p95.series(subject)),
      p99_(metrics.p99.series(subject)) {}

void SubjectSeries::report(const Histogram& window, plugin::Batch& batch, CumulativeCounts& counts) {
  total_ += window;
  batch.add(mean_, mean_seconds(window).value_or(kNone));
  batch.add(p50_, quantile_seconds(window, 0.50).value_or(kNone));
  batch.add(p95_, quantile_seconds(window, 0.95).value_or(kNone));
  batch.add(p99_, quantile_seconds(window, 0.99).value_or(kNone));
  std::vector<std::uint64_t> cumulative = exported_cumulative(total_);
  const bool has_buckets = cumulative.back() == total_.count;
  if (!has_buckets) return;
  counts.push_back(std::move(cumulative));
  batch.add_histogram(histogram_, counts.back(), static_cast<double>(total_.sum_ns) * 1e-9);
}

}  // namespace koord::sched_latency
