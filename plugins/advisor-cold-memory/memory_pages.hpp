// SPDX-License-Identifier: Apache-2.0
// Ranges of physical memory and what is in their pages. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace koord::cold_memory {

struct Range {
  std::uint64_t start = 0, end = 0;  // bytes; the end is not in it

  std::uint64_t size() const { return end - start; }
  bool operator==(const Range&) const = default;
};

// /proc/iomem: the lines "00100000-bfffffff : System RAM" that are part of nothing else. A reader without the right to
// see addresses reads zeroes, which are no range.
std::vector<Range> parse_system_ram(std::string_view iomem);

// Page cache on the inactive list, by a page's 64 bits in /proc/kpageflags (include/uapi/linux/kernel-page-flags.h).
// Shared memory is no page cache here: it can only be swapped.
bool is_inactive_file(std::uint64_t page_flags);

// How many bytes of the ranges are in pages that `counts` (by number) agrees to: an estimate from one page out of each
// of `samples` equal pieces, drawn by `seed`. Its standard error is at most half of the ranges' size / sqrt(samples).
// Nothing when a page cannot be looked at, for which `counts` returns nothing.
std::optional<double> estimate_bytes(const std::vector<Range>& ranges, std::uint64_t page_bytes, std::uint64_t samples,
                                     std::uint32_t seed,
                                     const std::function<std::optional<bool>(std::uint64_t)>& counts);

}  // namespace koord::cold_memory
