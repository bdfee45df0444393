// SPDX-License-Identifier: Apache-2.0
#include "core/base/timestamp.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <optional>
#include <utility>

#include "core/base/parse.hpp"

namespace koord {
namespace {

constexpr std::int64_t kNanos = 1'000'000'000;

// Removes exactly `digits` digits and then `after` (unless it is 0) from the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits, char after) {
  if (text.size() < digits + (after ? 1 : 0)) return std::nullopt;
  Result<std::uint64_t> number = parse_uint(text.substr(0, digits));
  if (!number || (after && text[digits] != after)) return std::nullopt;
  text.remove_prefix(digits + (after ? 1 : 0));
  return static_cast<int>(*number);
}

// Reads ".25" as nanoseconds. Digits after the ninth are ignored.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  if (!text.starts_with('.')) return 0;
  text.remove_prefix(1);
  std::int64_t nanos = 0, weight = kNanos;
  std::size_t digits = 0;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), ++digits) {
    weight /= 10;
    nanos += (text.front() - '0') * weight;
  }
  return digits > 0 ? std::optional(nanos) : std::nullopt;
}

// Reads "Z" or "+05:30" and returns seconds. The text must contain nothing else.
std::optional<std::int64_t> parse_zone(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  int sign = text[0] == '-' ? -1 : 1;
  text.remove_prefix(1);
  std::optional<int> hours = take_number(text, 2, ':');
  std::optional<int> minutes = hours ? take_number(text, 2, 0) : std::nullopt;
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60);
}

std::optional<std::int64_t> parse_seconds(std::string_view& text) {
  constexpr std::array<std::pair<std::size_t, char>, 6> kParts{
      {{4, '-'}, {2, '-'}, {2, 'T'}, {2, ':'}, {2, ':'}, {2, 0}}};
  std::array<int, 6> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::optional<int> part = take_number(text, kParts[i].first, kParts[i].second);
    if (!part) return std::nullopt;
    parts[i] = *part;
  }
  std::chrono::year_month_day date{std::chrono::year{parts[0]}, std::chrono::month{static_cast<unsigned>(parts[1])},
                                   std::chrono::day{static_cast<unsigned>(parts[2])}};
  // The years that fit into nanoseconds in 64 bits with any zone.
  if (!date.ok() || parts[0] < 1678 || parts[0] > 2261) return std::nullopt;
  if (parts[3] > 23 || parts[4] > 59 || parts[5] > 60) return std::nullopt;
  std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * 86400 + parts[3] * 3600 + parts[4] * 60 + parts[5];
}

std::tm in_utc(std::int64_t unix_seconds) {
  const std::time_t time = unix_seconds;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  return parts;
}

constexpr std::size_t kMaxTimestamp = 64;

}  // namespace

std::string format_timestamp(std::int64_t unix_seconds) {
  const std::tm parts = in_utc(unix_seconds);
  char text[kMaxTimestamp];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string format_timestamp_ms(std::int64_t unix_ms) {
  using namespace std::chrono;
  const milliseconds since_epoch(unix_ms);
  const seconds second = floor<seconds>(since_epoch);
  std::string text = format_timestamp(second.count());
  const std::string fraction =
      std::to_string(1000 + (since_epoch - second).count());  // three digits after a "1", so that zeros remain
  text.back() = '.';
  return text.append(fraction, 1).append("Z");
}

std::string format_timestamp_for_file(std::int64_t unix_seconds) {
  const std::tm parts = in_utc(unix_seconds);
  char text[kMaxTimestamp];
  return {text, std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts)};
}

std::string format_timestamp_for_table(std::int64_t unix_seconds) {
  const std::tm parts = in_utc(unix_seconds);
  char text[kMaxTimestamp];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

Result<std::int64_t> parse_timestamp(std::string_view text) {
  std::string_view rest = text;
  std::optional<std::int64_t> seconds = parse_seconds(rest);
  std::optional<std::int64_t> fraction = seconds ? take_fraction(rest) : std::nullopt;
  std::optional<std::int64_t> zone = fraction ? parse_zone(rest) : std::nullopt;
  if (!zone) return invalid("'" + std::string(text.substr(0, 64)) + "' is not a time such as '2026-01-02T03:04:05Z'");
  return (*seconds - *zone) * kNanos + *fraction;
}

}  // namespace koord
