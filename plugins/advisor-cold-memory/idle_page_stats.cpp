// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-cold-memory/idle_page_stats.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/parse.hpp"

namespace koord::cold_memory {
namespace {

// Rows of inactive page cache. The letters: clean or dirty, file, evictable or unevictable, inactive.
constexpr std::string_view kRows[] = {"cfei", "dfei", "cfui", "dfui"};

struct Stats {
  std::optional<std::uint64_t> period_s;
  bool hierarchical = false;
  std::vector<std::uint64_t> buckets;  // lower bounds, in scan periods
  std::vector<std::string_view> rows;  // "cfei 0 4096 …"
};

// Parses "# key: value".
Result<void> read_header(std::string_view line, Stats& stats) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view key = trim(line.substr(1, colon - 1)), value = trim(line.substr(colon + 1));
  if (key == "scan_period_in_seconds") stats.period_s = TRY(parse_uint(value));
  if (key == "use_hierarchy") stats.hierarchical = value == "1";
  if (key != "buckets") return {};
  for (const std::string& bound : split(value, ',')) stats.buckets.push_back(TRY(parse_uint(trim(bound))));
  return {};
}

Result<double> sum_of_old_pages(std::string_view row, const std::vector<bool>& is_old) {
  double bytes = 0;
  for (bool counts : is_old) {
    const std::optional<std::string_view> word = next_word(row);
    if (!word) return invalid("a row has fewer values than there are buckets");
    const std::uint64_t value = TRY(parse_uint(*word));
    if (counts) bytes += static_cast<double>(value);
  }
  return bytes;
}

}  // namespace

Result<IdleFilePages> parse_idle_page_stats(std::string_view text, std::chrono::seconds age) {
  Stats stats;
  while (const auto line = next_field(text, '\n')) {
    if (line->starts_with('#'))
      TRY(read_header(*line, stats));
    else if (!trim(*line).empty())
      stats.rows.push_back(*line);
  }
  if (!stats.period_s || stats.buckets.empty()) return invalid("has no scan period or no buckets");
  std::vector<bool> is_old;
  for (std::uint64_t bound : stats.buckets)
    is_old.push_back(static_cast<double>(bound) * static_cast<double>(*stats.period_s) >=
                     static_cast<double>(age.count()));
  IdleFilePages pages{.hierarchical = stats.hierarchical};
  std::size_t found = 0;
  for (std::string_view row : stats.rows) {
    const std::string_view name = next_word(row).value_or("");
    if (std::find(std::begin(kRows), std::end(kRows), name) == std::end(kRows)) continue;
    pages.bytes += TRY(sum_of_old_pages(row, is_old));
    ++found;
  }
  if (found != std::size(kRows)) return invalid("lacks one of the rows cfei, dfei, cfui, dfui");
  return pages;
}

}  // namespace koord::cold_memory
