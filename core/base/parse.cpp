// SPDX-License-Identifier: Apache-2.0
#include "core/base/parse.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace koord {
namespace {

template <class T>
Result<T> parse_number(std::string_view text, const char* expected) {
  T value{};
  const char* end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range)
    return invalid("'" + std::string(text) + "' is out of range, expected " + expected);
  if (error != std::errc{} || rest != end)
    return invalid("'" + std::string(text.substr(0, 64)) + "' is not " + expected);
  return value;
}

struct DurationUnit {
  std::string_view name;
  std::int64_t ns;
};
// The longest names are first, so that "ms" is not read as "m".
constexpr std::array<DurationUnit, 6> kDurationUnits{{{"ns", 1},
                                                      {"us", 1'000},
                                                      {"ms", 1'000'000},
                                                      {"s", 1'000'000'000},
                                                      {"m", 60'000'000'000},
                                                      {"h", 3'600'000'000'000}}};

// Returns the optimal string alignment distance, ignoring case: the number of letters to insert, remove, replace or
// swap with the next one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) { return std::tolower(x) == std::tolower(y); };
  std::vector<std::size_t> two_before, before, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_before = std::exchange(before, std::move(row));
    row.assign(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + !same(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        row[j] = std::min(row[j], two_before[j - 2] + 1);
    }
  }
  return row.back();
}

// Returns the length of the common leading parts of both ids, because ids of one vendor differ only in their last part.
std::size_t shared_parts(std::string_view a, std::string_view b) {
  const auto shared = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  const std::size_t separator = a.substr(0, shared).find_last_of(".-_/");
  return separator == std::string_view::npos ? 0 : separator + 1;
}

// Returns the maximum number of edits for a suggestion: half of a short word or a third of a long one. Beyond that, two
// words are unrelated.
std::size_t most_typos(std::size_t size) {
  return std::min(std::max<std::size_t>(size / 2, 1), std::max<std::size_t>(size / 3, 2));
}

}  // namespace

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

Result<std::int64_t> parse_int(std::string_view text) { return parse_number<std::int64_t>(text, "an integer"); }

Result<std::uint64_t> parse_uint(std::string_view text) {
  return parse_number<std::uint64_t>(text, "an unsigned integer");
}

Result<double> parse_double(std::string_view text) { return parse_number<double>(text, "a number"); }

Result<Duration> parse_duration(std::string_view text) {
  auto bad = [text] { return invalid("'" + std::string(text) + "' is not a duration such as '250ms' or '1h30m'"); };
  std::string_view rest = text;
  double total = 0;
  if (rest.empty()) return bad();
  while (!rest.empty()) {
    std::size_t digits = rest.find_first_not_of("0123456789.");
    if (digits == 0 || digits == std::string_view::npos) return bad();
    Result<double> count = parse_double(rest.substr(0, digits));
    if (!count) return bad();
    rest.remove_prefix(digits);
    auto unit = std::find_if(kDurationUnits.begin(), kDurationUnits.end(),
                             [rest](const DurationUnit& u) { return rest.starts_with(u.name); });
    if (unit == kDurationUnits.end()) return bad();
    rest.remove_prefix(unit->name.size());
    total += *count * static_cast<double>(unit->ns);
  }
  if (total >= static_cast<double>(std::numeric_limits<std::int64_t>::max())) return bad();
  return Duration(static_cast<std::int64_t>(std::llround(total)));
}

std::string format_duration(Duration d) {
  std::int64_t ns = d.count();
  if (ns == 0) return "0s";
  std::string text;
  if (ns < 0) {
    text = "-";
    ns = -ns;
  }
  for (std::string_view name : {"h", "m", "s", "ms", "us", "ns"}) {
    auto unit = std::find_if(kDurationUnits.begin(), kDurationUnits.end(),
                             [name](const DurationUnit& u) { return u.name == name; });
    if (std::int64_t count = ns / unit->ns; count > 0) {
      text += std::to_string(count) + std::string(name);
      ns %= unit->ns;
    }
  }
  return text;
}

std::optional<std::string_view> next_field(std::string_view& rest, char separator) {
  if (rest.empty()) return std::nullopt;
  std::size_t end = rest.find(separator);
  std::string_view field = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return field;
}

std::optional<std::string_view> next_word(std::string_view& rest) {
  std::size_t first = rest.find_first_not_of(" \t");
  if (first == std::string_view::npos) return std::nullopt;
  rest.remove_prefix(first);
  std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
  std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (auto part = next_field(text, separator)) parts.emplace_back(*part);
  return parts;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) text += separator;
    text += part;
  }
  return text;
}

std::optional<std::uint64_t> find_flat_key(std::string_view text, std::string_view key) {
  while (auto line = next_field(text, '\n')) {
    if (line->size() <= key.size() || !line->starts_with(key) || (*line)[key.size()] != ' ') continue;
    Result<std::uint64_t> value = parse_uint(trim(line->substr(key.size() + 1)));
    return value ? std::optional(*value) : std::nullopt;
  }
  return std::nullopt;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = word.size() + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t most = std::min(best_distance - 1, most_typos(word.size() - shared_parts(word, candidate)));
    // The distance is at least the difference of the lengths. This check also avoids the cost of a very long word.
    if (std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size()) > most) continue;
    if (std::size_t distance = edit_distance(word, candidate); distance <= most) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace koord
