// SPDX-License-Identifier: Apache-2.0
// KnownSeries: a series that exists while its value is known. When the value becomes unknown (a counter was not
// scheduled, a process has left a device), the series is removed from /metrics immediately. Otherwise its last value
// would stay there for minutes. Its history is kept. Header-only. On the instance's strand.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "koordetector/plugin.hpp"

namespace koord::plugin {

class KnownSeries {
 public:
  // `make` returns the series, like Metric::series(). It is called for the first value, and again for the first value
  // after a time without values.
  KnownSeries(const koord_host* host, std::function<std::uint64_t()> make)
      : host_(host), metrics_(require<koord_svc_metrics>(host, "koord.metrics/1")), make_(std::move(make)) {}

  // Adds the value to the batch, or ends the series.
  void set(Batch& batch, std::optional<double> value) {
    if (!value) return end();
    if (!series_) series_ = make_();
    batch.add(*series_, *value);
  }

  void end() {
    if (!series_) return;
    check(metrics_->end_series(host_, *series_), "ending a series");
    series_.reset();
  }

 private:
  const koord_host* host_;
  const koord_svc_metrics* metrics_;
  std::function<std::uint64_t()> make_;
  std::optional<std::uint64_t> series_;
};

}  // namespace koord::plugin
