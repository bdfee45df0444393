// SPDX-License-Identifier: Apache-2.0
// Parses the files of resctrl's monitoring. Pure: values in, values out. Format: Documentation/filesystems/resctrl.rst
// of the kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::resctrl {

// Parses a file of mon_data, in bytes. nullopt: the hardware has no value now: "Unavailable", "Unassigned" (no counter
// is assigned to the group) or "Error".
Result<std::optional<std::uint64_t>> parse_bytes(std::string_view text);

// Returns the cache id of a directory of mon_data, which is used in schemata, too: 1 for "mon_L3_01". nullopt for other
// names.
std::optional<std::uint32_t> cache_of(std::string_view directory);

struct Features {
  bool occupancy = false, local_bandwidth = false, total_bandwidth = false;

  bool any() const { return occupancy || local_bandwidth || total_bandwidth; }
  bool all() const { return occupancy && local_bandwidth && total_bandwidth; }
};

// Parses info/L3_MON/mon_features: one name per line.
Features parse_features(std::string_view text);

}  // namespace koord::resctrl
