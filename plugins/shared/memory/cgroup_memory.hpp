// SPDX-License-Identifier: Apache-2.0
// Values of a cgroup's memory.stat, in koordlet's two meanings. Pure. [any thread]
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace koord::memory {

// Keys of the logical cgroup file memory.stat, in the order of MemoryStat.
inline constexpr std::array<std::string_view, 5> kMemoryStatKeys = {"inactive_anon", "active_anon", "unevictable",
                                                                    "inactive_file", "active_file"};

// Values in bytes over the whole subtree; kAbsent if the kernel has no such key.
struct MemoryStat {
  static constexpr std::int64_t kAbsent = INT64_MIN;
  std::int64_t inactive_anon = kAbsent, active_anon = kAbsent, unevictable = kAbsent;
  std::int64_t inactive_file = kAbsent, active_file = kAbsent;
};

// Returns the memory that the cgroup cannot release without swapping: inactive_anon + active_anon + unevictable. Page
// cache and slab are left out. Unknown if a part is unknown.
std::optional<double> usage_bytes(const MemoryStat& stat);

// Returns the same plus the page cache, inactive_file + active_file. Unknown if a part is unknown.
std::optional<double> usage_with_page_cache_bytes(const MemoryStat& stat);

}  // namespace koord::memory
