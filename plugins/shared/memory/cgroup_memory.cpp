// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/memory/cgroup_memory.hpp"

#include <initializer_list>

namespace koord::memory {
namespace {

std::optional<double> sum(std::initializer_list<std::int64_t> parts) {
  double sum = 0;
  for (std::int64_t part : parts) {
    if (part == MemoryStat::kAbsent) return std::nullopt;
    sum += static_cast<double>(part);
  }
  return sum;
}

}  // namespace

std::optional<double> usage_bytes(const MemoryStat& stat) {
  return sum({stat.inactive_anon, stat.active_anon, stat.unevictable});
}

std::optional<double> usage_with_page_cache_bytes(const MemoryStat& stat) {
  return sum({stat.inactive_anon, stat.active_anon, stat.unevictable, stat.inactive_file, stat.active_file});
}

}  // namespace koord::memory
