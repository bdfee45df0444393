// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/text.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace koord::verdict {
namespace {

constexpr double kMostPlain = 1e7;  // larger numbers are written with an exponent

// "(quiet 0.3 %, limit 1.0 %)" with a blank before; empty: both are unknown.
std::string bounds(const Statistic& statistic, bool with_baseline) {
  std::string text;
  if (with_baseline && std::isfinite(statistic.baseline))
    text = "quiet " + amount(statistic.baseline, statistic.unit);
  if (std::isfinite(statistic.threshold))
    text += (text.empty() ? "limit " : ", limit ") + amount(statistic.threshold, statistic.unit);
  return text.empty() ? text : " (" + text + ")";
}

}  // namespace

std::string figures(double value) {
  const double size = std::fabs(value);
  std::array<char, 32> text{};
  if (size >= kMostPlain)
    std::snprintf(text.data(), text.size(), "%.1e", value);
  else if (size > 0 && size < 0.095)
    std::snprintf(text.data(), text.size(), "%.1g", value);
  else
    std::snprintf(text.data(), text.size(), "%.*f", size == 0 || size >= 9.95 ? 0 : 1, value);
  return text.data();
}

std::string percent(double share) { return figures(100 * share) + " %"; }

std::string amount(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "unknown";
  if (unit == "ratio") return percent(value);
  if (unit == "seconds/second") return figures(1000 * value) + " ms/s";
  if (unit == "seconds") return figures(1000 * value) + " ms";
  return figures(value) + " " + std::string(unit);
}

std::string felt(const Statistic& statistic) {
  const std::string value = amount(statistic.value, statistic.unit);
  const std::string finds = "a request finds the container held up for > 1 ms during " + value + " of the time";
  if (statistic.name == "held_up_by_others") return finds + bounds(statistic, true);
  if (statistic.name == "held_up") return finds + ", behind its own threads" + bounds(statistic, false);
  if (statistic.name == "lost_throughput") return "others take " + value + " of its throughput" + bounds(statistic, false);
  if (statistic.name == "throttled") return "its CPU quota takes " + value + " from it" + bounds(statistic, false);
  return statistic.name + " " + value + bounds(statistic, true);
}

}  // namespace koord::verdict
