// SPDX-License-Identifier: Apache-2.0
// Newest: the newest samples in the metric cache, of any plugin, within a time window. Header-only. On the instance's
// strand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "koordetector/plugin.hpp"

namespace koord::usage {

struct Newest {
  std::uint64_t subject = 0;  // a pod's handle, or KOORD_NO_SUBJECT
  double value = 0;
};

class NewestSamples {
 public:
  NewestSamples() = default;
  explicit NewestSamples(const koord_host* host)
      : host_(host), metrics_(plugin::require<koord_svc_metrics>(host, "koord.metrics/1")) {}

  // Sets the time window of all queries until the next call.
  void set_window(std::uint64_t from_ns, std::uint64_t to_ns) {
    from_ns_ = from_ns;
    to_ns_ = to_ns;
  }

  // Returns the newest sample of each current series of the metric, or only of series with this label. Empty if the
  // metric is not defined.
  std::vector<Newest> of(std::string_view metric, std::optional<plugin::Label> label = std::nullopt) {
    koord_label match = {};
    koord_query query = {};
    query.struct_size = sizeof query;
    query.aggregation = KOORD_AGG_LAST;
    query.metric = plugin::str(metric);
    query.from_ns = from_ns_;
    query.to_ns = to_ns_;
    query.label_stride = sizeof match;
    if (label) {
      match = {plugin::str(label->key), plugin::str(label->value)};
      query.labels = &match;
      query.n_labels = 1;
    }
    std::uint32_t n = 0;
    koord_status status;
    while ((status = metrics_->aggregate(host_, &query, rows_.data(), static_cast<std::uint32_t>(rows_.size()),
                                         sizeof(koord_agg_row), &n)) == KOORD_E_TOO_SMALL)
      rows_.resize(n + n / 4 + 8);
    plugin::check(status, "asking for " + std::string(metric));
    std::vector<Newest> samples;
    for (std::uint32_t i = 0; i < n; ++i)
      if (rows_[i].series != 0) samples.push_back({rows_[i].subject, rows_[i].value});
    return samples;
  }

  // Returns the value of the only series; nullopt if no series or several series exist.
  std::optional<double> value_of(std::string_view metric, std::optional<plugin::Label> label = std::nullopt) {
    const std::vector<Newest> samples = of(metric, label);
    return samples.size() == 1 ? std::optional(samples[0].value) : std::nullopt;
  }

 private:
  const koord_host* host_ = nullptr;
  const koord_svc_metrics* metrics_ = nullptr;
  std::uint64_t from_ns_ = 0, to_ns_ = 0;
  std::vector<koord_agg_row> rows_;
};

}  // namespace koord::usage
