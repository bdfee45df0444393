// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-resctrl/hardware.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/base/parse.hpp"

namespace koord::rdt {
namespace {

// Calls `take(number, value)` for each domain of the line.
template <class Take>
void each_domain(std::string_view schemata, std::string_view resource, Take take) {
  while (auto line = next_field(schemata, '\n')) {
    std::string_view rest = trim(*line);
    if (!rest.starts_with(resource) || !rest.substr(resource.size()).starts_with(':')) continue;
    rest.remove_prefix(resource.size() + 1);
    while (auto domain = next_field(rest, ';')) {
      const std::size_t equals = domain->find('=');
      if (equals == std::string_view::npos) continue;
      const Result<std::uint64_t> id = parse_uint(domain->substr(0, equals));
      if (id && *id <= UINT32_MAX) take(static_cast<std::uint32_t>(*id), trim(domain->substr(equals + 1)));
    }
  }
}

// Returns the longest run of ways with adjacent bits.
std::pair<std::size_t, std::size_t> longest_run(const std::vector<unsigned>& ways, std::size_t begin, std::size_t end) {
  std::pair<std::size_t, std::size_t> longest(begin, begin);
  for (std::size_t from = begin; from < end;) {
    std::size_t to = from + 1;
    while (to < end && ways[to] == ways[to - 1] + 1) ++to;
    if (to - from > longest.second - longest.first) longest = {from, to};
    from = to;
  }
  return longest;
}

std::vector<unsigned> ways_of(std::uint64_t mask) {
  std::vector<unsigned> ways;
  for (unsigned bit = 0; bit < 64; ++bit)
    if (mask >> bit & 1) ways.push_back(bit);
  return ways;
}

std::size_t share_of(std::size_t all, std::int64_t percent) {
  return (all * static_cast<std::size_t>(std::clamp<std::int64_t>(percent, 0, 100)) + 99) / 100;
}

}  // namespace

std::vector<std::uint32_t> domains_in(std::string_view schemata, std::string_view resource) {
  std::vector<std::uint32_t> ids;
  each_domain(schemata, resource, [&](std::uint32_t id, std::string_view) { ids.push_back(id); });
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::uint64_t largest_in(std::string_view schemata, std::string_view resource, int base) {
  std::uint64_t largest = 0;
  each_domain(schemata, resource, [&](std::uint32_t, std::string_view text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, base);
    largest = std::max(largest, value);
  });
  return largest;
}

std::uint64_t mask_of(const Cache& cache, std::int64_t begin_percent, std::int64_t end_percent) {
  const std::vector<unsigned> ways = ways_of(cache.mask);
  const std::size_t least = std::min<std::size_t>(std::max(cache.least_bits, 1u), ways.size());
  std::size_t begin = share_of(ways.size(), begin_percent);
  std::size_t end = std::min(std::max(share_of(ways.size(), end_percent), begin + least), ways.size());
  begin = std::min(begin, end - least);
  if (!cache.takes_gaps) {
    std::pair<std::size_t, std::size_t> run = longest_run(ways, begin, end);
    if (run.second - run.first < least) run = longest_run(ways, 0, ways.size());
    begin = run.first, end = run.second;
  }
  std::uint64_t mask = 0;
  for (std::size_t i = begin; i < end; ++i) mask |= std::uint64_t{1} << ways[i];
  return mask;
}

std::int64_t bandwidth_of(const Bandwidth& bandwidth, std::int64_t percent, std::int64_t domain_units) {
  if (percent >= 100) return bandwidth.unlimited;
  const std::int64_t share = bandwidth.unit == BandwidthUnit::percent ? percent : domain_units * percent / 100;
  const std::int64_t step = std::max<std::int64_t>(bandwidth.step, 1);
  const std::int64_t stepped = (std::max(share, bandwidth.least) + step - 1) / step * step;
  return std::min(stepped, bandwidth.unlimited);
}

std::string hexadecimal(std::uint64_t mask) {
  char text[17];
  const auto [end, error] = std::to_chars(text, text + sizeof text, mask, 16);
  return {text, error == std::errc() ? end : text};
}

}  // namespace koord::rdt
