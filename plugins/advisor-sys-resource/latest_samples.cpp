// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-sys-resource/latest_samples.hpp"

#include <string>

namespace koord::sys_resource {

void LatestSamples::set_window(std::uint64_t from_ns, std::uint64_t to_ns) {
  from_ns_ = from_ns;
  to_ns_ = to_ns;
}

std::vector<Sample> LatestSamples::of(std::string_view metric, std::optional<plugin::Label> label) {
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
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < n; ++i)
    if (rows_[i].series != 0) samples.push_back({rows_[i].subject, rows_[i].value});
  return samples;
}

std::optional<double> LatestSamples::value_of(std::string_view metric, std::optional<plugin::Label> label) {
  const std::vector<Sample> samples = of(metric, label);
  return samples.size() == 1 ? std::optional(samples[0].value) : std::nullopt;
}

}  // namespace koord::sys_resource
