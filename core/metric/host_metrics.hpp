// SPDX-License-Identifier: Apache-2.0
// The host's own metrics, kept by prometheus-cpp: few, long-lived, set from anywhere. Their names begin with
// one of kReservedPrefixes, which plugins cannot use, so the text can follow that of the Registry in one
// document. All functions may be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/metric/exported.hpp"
#include "core/metric/labels.hpp"

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace koord::metric {

// Handles are small values that stay valid as long as the HostMetrics they came from. A default one ignores
// calls.
class HostCounter {
 public:
  HostCounter() = default;
  explicit HostCounter(prometheus::Counter& counter) : counter_(&counter) {}
  void add(double n = 1);  // NaN and negative numbers are ignored
  double value() const;

 private:
  prometheus::Counter* counter_ = nullptr;
};

class HostGauge {
 public:
  HostGauge() = default;
  explicit HostGauge(prometheus::Gauge& gauge) : gauge_(&gauge) {}
  void set(double value);  // ignores values that are not finite
  void add(double n);
  double value() const;

 private:
  prometheus::Gauge* gauge_ = nullptr;
};

class HostHistogram {
 public:
  HostHistogram() = default;
  explicit HostHistogram(prometheus::Histogram& histogram) : histogram_(&histogram) {}
  void observe(double value);

 private:
  prometheus::Histogram* histogram_ = nullptr;
};

class HostMetrics {
 public:
  explicit HostMetrics(std::string node_name = {});
  ~HostMetrics();

  // `name` without the prefix "koordetector_", one of ours: a name outside kReservedPrefixes or used with two
  // types is a bug and throws std::invalid_argument. The same name and labels give the same metric.
  HostCounter counter(std::string_view name, std::string_view help, const Labels& labels = {});
  HostGauge gauge(std::string_view name, std::string_view help, const Labels& labels = {});
  HostHistogram histogram(std::string_view name, std::string_view help, const std::vector<double>& bounds,
                          const Labels& labels = {});

  // Runs `read` before every write_text, in order, so that values such as memory in use are read when asked
  // for.
  void on_collect(std::function<void()> read);

  // Appends the exposition of the series that the rule selects; empty: of all.
  void write_text(std::string& out, const HostExportRule& rule = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::metric
