// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/text.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace koord::verdict {
namespace {

constexpr double kMostPlain = 1e7;  // larger numbers are written with an exponent

// The words before and after the value of one of the agent's own statistics.
struct Saying {
  std::string_view name, before, after;
  bool has_baseline = true;
  std::string_view unit = {};  // replaces the statistic's unit, because a share of time reads better as ms/s
};
constexpr Saying kSayings[] = {
    {"held_up_by_others", "a request finds the container held up for > 1 ms during ", " of the time"},
    {"held_up", "a request finds the container held up for > 1 ms during ", " of the time, behind its own threads",
     false},
    {"lost_throughput", "others take ", " of its throughput", false},
    {"throttled", "its CPU quota takes ", " from it", false, "seconds/second"},
    {"throttled_by_others", "a CPU quota above it, which others use up, takes ", " from it", false, "seconds/second"},
    {"refault_time", "it reads pages again that the kernel took from it, for ", "", true, "seconds/second"},
    {"cycles_per_instruction", "it takes ", ""},
    {"io_limit_used", "it uses ", " of its own I/O limit", false},
    {"read_latency", "its reads take ", " on average"},
    {"read_latency_p99", "one in a hundred of its reads takes more than ", ""},
    {"write_latency", "its writes take ", " on average"},
    {"write_latency_p99", "one in a hundred of its writes takes more than ", ""},
};

// Returns a text such as " (quiet 0.3 %, limit 1.0 %)"; empty: both bounds are unknown.
std::string bounds(const Statistic& statistic, std::string_view unit, bool with_baseline) {
  std::string text;
  if (with_baseline && std::isfinite(statistic.baseline)) text = "quiet " + amount(statistic.baseline, unit);
  if (std::isfinite(statistic.threshold))
    text += (text.empty() ? "limit " : ", limit ") + amount(statistic.threshold, unit);
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

bool is_share_of_time(const Statistic& statistic) {
  return statistic.unit == "ratio" && (statistic.name == "held_up" || statistic.name == "held_up_by_others");
}

std::string felt(const Statistic& statistic) {
  for (const Saying& saying : kSayings) {
    if (saying.name != statistic.name) continue;
    const std::string_view unit =
        statistic.unit == "ratio" && !saying.unit.empty() ? saying.unit : std::string_view(statistic.unit);
    // The time that a container is held up is summed over its threads.
    const bool is_always = is_share_of_time(statistic) && statistic.value > 1;
    return std::string(saying.before) + amount(is_always ? 1 : statistic.value, unit) + std::string(saying.after) +
           (is_always ? ", " + figures(statistic.value) + " threads at a time" : "") +
           bounds(statistic, unit, saying.has_baseline);
  }
  return statistic.name + " " + amount(statistic.value, statistic.unit) + bounds(statistic, statistic.unit, true);
}

}  // namespace koord::verdict
