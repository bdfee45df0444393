// SPDX-License-Identifier: Apache-2.0
// MetricQuery: queries of strategies to the metric cache over a given number of nanoseconds up to now, for values of
// the node or of all pods or containers. Values that are not measured are left out. Header-only.
// [strand]
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "koordetector/plugin.hpp"

namespace koord {

class MetricQuery {
 public:
  struct Figure {
    double value = 0;
    std::uint64_t samples = 0;
    std::uint64_t covered_ns = 0;  // time from the first sample to the last
  };
  struct Value {
    double value = 0;
    std::uint64_t at_ns = 0;  // time of the last sample
  };
  using BySubject = std::unordered_map<std::uint64_t, Value>;

  MetricQuery() = default;
  explicit MetricQuery(const koord_host* host)
      : host_(host), metrics_(plugin::require<koord_svc_metrics>(host, "koord.metrics/1")) {}

  // Returns the value of the node, or of the series with the labels; if several match, the first current one.
  // `aggregation`: KOORD_AGG_*.
  std::optional<Figure> of_node(std::string_view metric, std::uint32_t aggregation, std::uint64_t now_ns,
                                std::uint64_t window_ns, std::initializer_list<plugin::Label> labels = {}) {
    std::vector<koord_label> list;
    for (const plugin::Label& label : labels) list.push_back({plugin::str(label.key), plugin::str(label.value)});
    ask(metric, aggregation, now_ns, window_ns, list);
    for (const koord_agg_row& row : rows_)
      if (row.series != 0) return Figure{row.value, row.count, row.to_ns - row.from_ns};
    return std::nullopt;
  }

  // Returns the values by handle of koord.state/1.
  BySubject by_subject(std::string_view metric, std::uint32_t aggregation, std::uint64_t now_ns,
                       std::uint64_t window_ns) {
    ask(metric, aggregation, now_ns, window_ns, {});
    BySubject values;
    values.reserve(rows_.size());
    for (const koord_agg_row& row : rows_)
      if (row.series != 0 && row.subject != KOORD_NO_SUBJECT) values.emplace(row.subject, Value{row.value, row.to_ns});
    return values;
  }

 private:
  void ask(std::string_view metric, std::uint32_t aggregation, std::uint64_t now_ns, std::uint64_t window_ns,
           const std::vector<koord_label>& labels) {
    koord_query query{};
    query.struct_size = sizeof query;
    query.aggregation = aggregation;
    query.metric = plugin::str(metric);
    query.from_ns = now_ns > window_ns ? now_ns - window_ns : 0;
    query.labels = labels.data();
    query.n_labels = static_cast<std::uint32_t>(labels.size());
    query.label_stride = sizeof(koord_label);
    rows_.resize(rows_.capacity() > 0 ? rows_.capacity() : 1);
    koord_status status = KOORD_E_TOO_SMALL;
    while (status == KOORD_E_TOO_SMALL) {
      std::uint32_t found = 0;
      status = metrics_->aggregate(host_, &query, rows_.data(), static_cast<std::uint32_t>(rows_.size()),
                                   sizeof(koord_agg_row), &found);
      rows_.resize(found);
    }
    plugin::check(status, "asking for " + std::string(metric));
  }

  const koord_host* host_ = nullptr;
  const koord_svc_metrics* metrics_ = nullptr;
  std::vector<koord_agg_row> rows_;
};

}  // namespace koord
