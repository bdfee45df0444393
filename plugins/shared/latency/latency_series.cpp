// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/latency/latency_series.hpp"

#include <limits>
#include <optional>

namespace koord::latency {
namespace {

constexpr double kResolution = 1e-6;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

plugin::Metric gauge(const koord_host* host, const std::string& name, const std::string& help) {
  return {host, {name, "seconds", help, kResolution}};
}

std::string share_of(int percent) { return percent == 50 ? "half" : std::to_string(percent) + " % of"; }

}  // namespace

LatencyMetrics::LatencyMetrics(const koord_host* host, const LatencyNames& names) : has_histogram(names.has_histogram) {
  const std::string name = names.prefix + "_latency_";
  const std::string what = names.what + ", in seconds.";
  if (has_histogram)
    histogram = {host,
                 {name + "seconds", "seconds", "How long " + what, kResolution, KOORD_HISTOGRAM, KOORD_METRIC_EXPORT,
                  exported_bounds_seconds()}};
  mean = gauge(host, name + "mean_seconds", "How long on average in the last period " + what);
  for (int percent : names.percents)
    quantiles.push_back({gauge(host, name + "p" + std::to_string(percent) + "_seconds",
                               "How long at most in " + share_of(percent) + " the cases of the last period " + what),
                         percent / 100.0});
}

LatencySeries::LatencySeries(const LatencyMetrics& metrics, std::uint64_t subject,
                             std::initializer_list<plugin::Label> labels)
    : histogram_(metrics.has_histogram ? metrics.histogram.series(subject, labels) : 0),
      mean_(metrics.mean.series(subject, labels)),
      total_(metrics.has_histogram ? std::make_unique<Histogram>() : nullptr) {
  for (const LatencyMetrics::Quantile& quantile : metrics.quantiles)
    quantiles_.push_back({quantile.metric.series(subject, labels), quantile.p});
}

void LatencySeries::report(const Histogram& window, plugin::Batch& batch, CumulativeCounts& counts) {
  batch.add(mean_, mean_seconds(window).value_or(kNone));
  for (const Quantile& quantile : quantiles_)
    batch.add(quantile.series, quantile_seconds(window, quantile.p).value_or(kNone));
  if (!total_) return;
  *total_ += window;
  std::vector<std::uint64_t> cumulative = exported_cumulative(*total_);
  const bool has_buckets = cumulative.back() == total_->count;
  if (!has_buckets) return;
  counts.push_back(std::move(cumulative));
  batch.add_histogram(histogram_, counts.back(), sum_seconds(*total_));
}

}  // namespace koord::latency
