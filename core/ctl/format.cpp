// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/format.hpp"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/base/timestamp.hpp"

namespace koord::ctl {
namespace {

constexpr const char* kUnknown = "-";

// Formats with three digits: 1.23, 12.3, 123.
std::string three_figures(double value) {
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

}  // namespace

std::string format_cores(std::optional<double> cores) { return cores ? fmt::format("{:.3f}", *cores) : kUnknown; }

std::string format_bytes(std::optional<double> bytes) {
  if (!bytes) return kUnknown;
  constexpr std::array<std::string_view, 6> kUnits{"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  double value = *bytes;
  std::size_t unit = 0;
  for (; std::fabs(value) >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{:.0f}", value) : three_figures(value) + std::string(kUnits[unit]);
}

std::string format_seconds(std::optional<double> seconds) {
  if (!seconds) return kUnknown;
  if (*seconds == 0) return "0";
  constexpr std::array<std::string_view, 4> kUnits{"s", "ms", "us", "ns"};
  double value = *seconds;
  std::size_t unit = 0;
  for (; std::fabs(value) < 1 && unit + 1 < kUnits.size(); ++unit) value *= 1000;
  return three_figures(value) + std::string(kUnits[unit]);
}

std::string format_percent(std::optional<double> ratio) {
  return ratio ? fmt::format("{:.1f}%", 100 * *ratio) : kUnknown;
}

std::string format_number(std::optional<double> number) { return number ? fmt::format("{}", *number) : kUnknown; }

std::string format_wall_time(double unix_seconds) {
  constexpr double kYear10000 = 253'402'300'800;
  if (!(std::fabs(unix_seconds) < kYear10000)) return kUnknown;
  return format_timestamp_for_table(static_cast<std::int64_t>(std::floor(unix_seconds)));
}

std::string text_or_dash(std::string text) { return text.empty() ? "-" : std::move(text); }

}  // namespace koord::ctl
