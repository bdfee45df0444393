// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-resctrl/resctrl.hpp"

#include "core/base/parse.hpp"

namespace koord::resctrl {

Result<std::optional<std::uint64_t>> parse_bytes(std::string_view text) {
  const std::string_view value = trim(text);
  if (value == "Unavailable" || value == "Unassigned" || value == "Error") return std::optional<std::uint64_t>();
  return std::optional(TRY(parse_uint(value)));
}

std::optional<std::uint32_t> cache_of(std::string_view directory) {
  constexpr std::string_view kPrefix = "mon_L3_";
  if (!directory.starts_with(kPrefix)) return std::nullopt;
  const Result<std::uint64_t> id = parse_uint(directory.substr(kPrefix.size()));
  return id && *id <= UINT32_MAX ? std::optional(static_cast<std::uint32_t>(*id)) : std::nullopt;
}

Features parse_features(std::string_view text) {
  Features features;
  while (const auto line = next_field(text, '\n')) {
    const std::string_view name = trim(*line);
    features.occupancy |= name == "llc_occupancy";
    features.local_bandwidth |= name == "mbm_local_bytes";
    features.total_bandwidth |= name == "mbm_total_bytes";
  }
  return features;
}

}  // namespace koord::resctrl
