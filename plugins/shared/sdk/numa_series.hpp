// SPDX-License-Identifier: Apache-2.0
// NumaSeries: the series of a metric by NUMA node. A series is defined when its first value arrives. Header-only. On
// the instance's strand.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "koordetector/plugin.hpp"

namespace koord::plugin {

class NumaSeries {
 public:
  NumaSeries() = default;
  explicit NumaSeries(const Metric& metric) : metric_(metric) {}

  void add(Batch& batch, std::uint32_t node, double value) {
    auto [entry, is_new] = series_.try_emplace(node);
    if (is_new) entry->second = metric_.series(KOORD_NO_SUBJECT, {{"numa_node_id", std::to_string(node)}});
    batch.add(entry->second, value);
  }

 private:
  Metric metric_;
  std::map<std::uint32_t, std::uint64_t> series_;
};

}  // namespace koord::plugin
