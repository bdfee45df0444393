// SPDX-License-Identifier: Apache-2.0
#include "core/metric/host_metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <cmath>
#include <mutex>
#include <stdexcept>

#include "core/metric/desc.hpp"
#include "core/metric/text_writer.hpp"

namespace koord::metric {

void HostCounter::add(double n) {
  if (counter_ && n >= 0 && std::isfinite(n)) counter_->Increment(n);
}

double HostCounter::value() const { return counter_ ? counter_->Value() : 0; }

void HostGauge::set(double value) {
  if (gauge_ && std::isfinite(value)) gauge_->Set(value);
}

void HostGauge::add(double n) {
  if (gauge_ && std::isfinite(n)) gauge_->Increment(n);
}

double HostGauge::value() const { return gauge_ ? gauge_->Value() : 0; }

void HostHistogram::observe(double value) {
  if (histogram_ && std::isfinite(value)) histogram_->Observe(value);
}

struct HostMetrics::State {
  prometheus::Labels node;
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
  std::mutex mutex;  // guards `reads`
  std::vector<std::function<void()>> reads;

  template <class Builder>
  auto& family(Builder builder, std::string_view name, std::string_view help) {
    if (!is_reserved(name)) throw std::invalid_argument("'" + std::string(name) + "' is not a name of the host");
    std::string full_name(kFamilyPrefix);
    full_name += name;
    // prometheus-cpp 1.0 writes the help unchanged, even if it has line breaks.
    return builder.Name(full_name).Help(escape_help(help)).Labels(node).Register(registry);
  }
};

namespace {

prometheus::Labels to_prometheus(const Labels& labels) { return {labels.begin(), labels.end()}; }

// Returns the metric's value; for a histogram, the number of observations.
double value_of(const prometheus::ClientMetric& metric, prometheus::MetricType type) {
  if (type == prometheus::MetricType::Counter) return metric.counter.value;
  if (type == prometheus::MetricType::Gauge) return metric.gauge.value;
  return static_cast<double>(metric.histogram.sample_count);
}

bool is_exported(HostExported what, double value) {
  switch (what) {
    case HostExported::always:
      return true;
    case HostExported::unless_zero:
      return value != 0;
    case HostExported::unless_one:
      return value != 1;
    case HostExported::if_negative:
      return value < 0;
    case HostExported::never:
      break;
  }
  return false;
}

void select(std::vector<prometheus::MetricFamily>& families, const HostExportRule& rule) {
  for (prometheus::MetricFamily& family : families) {
    const HostExported what = rule(std::string_view(family.name).substr(kFamilyPrefix.size()));
    std::erase_if(family.metric, [&](const prometheus::ClientMetric& metric) {
      return !is_exported(what, value_of(metric, family.type));
    });
  }
  std::erase_if(families, [](const prometheus::MetricFamily& family) { return family.metric.empty(); });
}

}  // namespace

HostMetrics::HostMetrics(std::string node_name) : state_(std::make_unique<State>()) {
  if (!node_name.empty()) state_->node.emplace(kNodeLabel, std::move(node_name));
}

HostMetrics::~HostMetrics() = default;

HostCounter HostMetrics::counter(std::string_view name, std::string_view help, const Labels& labels) {
  return HostCounter(state_->family(prometheus::BuildCounter(), name, help).Add(to_prometheus(labels)));
}

HostGauge HostMetrics::gauge(std::string_view name, std::string_view help, const Labels& labels) {
  return HostGauge(state_->family(prometheus::BuildGauge(), name, help).Add(to_prometheus(labels)));
}

HostHistogram HostMetrics::histogram(std::string_view name, std::string_view help, const std::vector<double>& bounds,
                                     const Labels& labels) {
  return HostHistogram(state_->family(prometheus::BuildHistogram(), name, help).Add(to_prometheus(labels), bounds));
}

void HostMetrics::on_collect(std::function<void()> read) {
  std::lock_guard lock(state_->mutex);
  state_->reads.push_back(std::move(read));
}

void HostMetrics::write_text(std::string& out, const HostExportRule& rule) const {
  {
    std::lock_guard lock(state_->mutex);
    for (const auto& read : state_->reads) read();
  }
  std::vector<prometheus::MetricFamily> families = state_->registry.Collect();
  if (rule) select(families, rule);
  out += prometheus::TextSerializer().Serialize(families);
}

}  // namespace koord::metric
