// SPDX-License-Identifier: Apache-2.0
// Ranges of physical memory and the content of their pages. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace koord::cold_memory {

struct Range {
  std::uint64_t start = 0, end = 0;  // bytes; `end` is exclusive

  std::uint64_t size() const { return end - start; }
  bool operator==(const Range&) const = default;
};

// Parses /proc/iomem: the top-level lines like "00100000-bfffffff : System RAM". Without permission to see addresses,
// all addresses are zero, and the result is empty.
std::vector<Range> parse_system_ram(std::string_view iomem);

// Returns whether a page is page cache on the inactive list, from its 64 bits in /proc/kpageflags
// (include/uapi/linux/kernel-page-flags.h). Shared memory does not count as page cache here, because it can only be
// swapped.
bool is_inactive_file(std::uint64_t page_flags);

// Estimates how many bytes of the ranges are in pages for which `counts(number)` returns true. It checks one random
// page (by `seed`) in each of `samples` equal pieces. The standard error is at most half of the ranges' size /
// sqrt(samples). Returns nullopt if a page cannot be read, for which `counts` returns nullopt.
std::optional<double> estimate_bytes(const std::vector<Range>& ranges, std::uint64_t page_bytes, std::uint64_t samples,
                                     std::uint32_t seed,
                                     const std::function<std::optional<bool>(std::uint64_t)>& counts);

}  // namespace koord::cold_memory
