// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/resource_text.hpp"

#include <array>
#include <cstdio>
#include <string_view>

namespace koord::interference {
namespace {

std::string scaled(double value, double scale, const char* unit) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), scale * value < 10 ? "%.1f %s" : "%.0f %s", scale * value, unit);
  return text.data();
}

std::string limits(const analysis::Statistic& statistic, const char* unit) {
  return scaled(statistic.value, 1000, unit) + " (quiet " + scaled(statistic.baseline, 1000, unit) + ", limit " +
         scaled(statistic.threshold, 1000, unit) + ")";
}

std::string cycles(const analysis::Statistic& statistic) {
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%.2f cycles per instruction (usually %.2f, limit %.2f)", statistic.value,
                statistic.baseline, statistic.threshold);
  return text.data();
}

}  // namespace

std::string figure_of_resource(const analysis::Statistic& statistic) {
  const std::string_view name = statistic.name;
  if (name == "read_latency") return "reads take " + limits(statistic, "ms");
  if (name == "write_latency") return "writes take " + limits(statistic, "ms");
  if (name == "read_latency_p99") return "1 % of the reads take at least " + limits(statistic, "ms");
  if (name == "write_latency_p99") return "1 % of the writes take at least " + limits(statistic, "ms");
  if (name == "io_limit_used")
    return "it uses " + scaled(statistic.value, 100, "%") + " of its own limit of block I/O (limit " +
           scaled(statistic.threshold, 100, "%") + ")";
  if (name == "cycles_per_instruction") return "it takes " + cycles(statistic);
  if (name == "refault_time") return "reading pages again takes " + limits(statistic, "ms/s");
  return {};
}

}  // namespace koord::interference
