// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-cold-memory/memory_pages.hpp"

#include <algorithm>
#include <charconv>
#include <random>

#include "core/base/parse.hpp"

namespace koord::cold_memory {
namespace {

constexpr std::uint64_t kLru = 1u << 5, kActive = 1u << 6, kAnon = 1u << 12, kSwapBacked = 1u << 14;

bool parse_hex(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::vector<Range> parse_system_ram(std::string_view iomem) {
  std::vector<Range> ranges;
  while (const auto line = next_field(iomem, '\n')) {
    const std::size_t dash = line->find('-'), colon = line->find(" : ");
    if (dash == std::string_view::npos || colon == std::string_view::npos || dash > colon) continue;
    if (line->substr(colon + 3) != "System RAM") continue;
    Range range;
    if (!parse_hex(line->substr(0, dash), range.start) ||
        !parse_hex(line->substr(dash + 1, colon - dash - 1), range.end))
      continue;
    if (range.end <= range.start || range.end == UINT64_MAX) continue;
    ++range.end;
    ranges.push_back(range);
  }
  return ranges;
}

bool is_inactive_file(std::uint64_t page_flags) {
  return (page_flags & (kLru | kActive | kAnon | kSwapBacked)) == kLru;
}

std::optional<double> estimate_bytes(const std::vector<Range>& ranges, std::uint64_t page_bytes, std::uint64_t samples,
                                     std::uint32_t seed,
                                     const std::function<std::optional<bool>(std::uint64_t)>& counts) {
  std::uint64_t pages = 0;
  for (const Range& range : ranges) pages += range.size() / page_bytes;
  const std::uint64_t piece = std::max<std::uint64_t>(pages / std::max<std::uint64_t>(samples, 1), 1);
  std::minstd_rand random(seed);
  double bytes = 0;
  for (const Range& range : ranges) {
    const std::uint64_t first = range.start / page_bytes, n = range.size() / page_bytes;
    for (std::uint64_t at = 0; at < n; at += piece) {
      const std::uint64_t length = std::min(piece, n - at);
      const std::optional<bool> counted = counts(first + at + random() % length);
      if (!counted) return std::nullopt;
      if (*counted) bytes += static_cast<double>(length * page_bytes);
    }
  }
  return bytes;
}

}  // namespace koord::cold_memory
