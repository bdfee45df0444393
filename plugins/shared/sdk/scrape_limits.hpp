// SPDX-License-Identifier: Apache-2.0
// The setting `limits` of plugins that scrape metrics: the maximum amount from one target. Header-only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "koordetector/plugin.hpp"
#include "koordetector/services.hpp"

namespace koord::settings {

// JSON Schema of the setting: a member of `properties`, for joined().
inline constexpr char kScrapeLimits[] = R"(
    "limits": {"type": "object", "additionalProperties": false, "properties": {
      "bodyBytes": {"type": "integer", "minimum": 1, "maximum": 67108864},
      "samples": {"type": "integer", "minimum": 1, "maximum": 1000000},
      "series": {"type": "integer", "minimum": 1, "maximum": 1000000}}})";

// Sets the limits of a target from the member `limits` of the object at the JSON pointer `at` ("" for the root). A
// missing limit becomes 0: the host's default applies.
inline void read_scrape_limits(const plugin::Config& config, std::string_view at, plugin::ScrapeTarget& target) {
  const auto number = [&](const char* key) {
    return static_cast<std::uint64_t>(config.i64(std::string(at) + "/limits/" + key).value_or(0));
  };
  target.max_body_bytes = number("bodyBytes");
  target.max_samples = number("samples");
  target.max_series = number("series");
}

}  // namespace koord::settings
