// SPDX-License-Identifier: Apache-2.0
// Parts of a scraped document that an external advisor maps, with its answers. Plain values.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/scrape/scrape_target.hpp"
#include "koordetector/plugin.h"

namespace koord::scrape {

// An endpoint's metric, and the external advisor's answer about it. The texts are the caller's.
struct ScrapedMetric {
  std::string_view name;
  std::string mapped = {};  // to this name
  koord_status status = KOORD_OK;
  bool dropped() const { return status != KOORD_OK; }
};
struct ScrapedSample {
  std::string_view name;  // of the metric, as the endpoint has it
  std::span<const koord_label> labels;
  double value = 0;
  koord_status status = KOORD_OK;
  bool dropped() const { return status != KOORD_OK; }
};

struct ScrapedSeries {
  std::string_view metric;  // as the endpoint has it
  std::span<const koord_label> labels;
  SeriesChange change = {};
  koord_status status = KOORD_OK;  // KOORD_E_AGAIN: not this time
};

}  // namespace koord::scrape
