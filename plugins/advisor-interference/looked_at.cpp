// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/looked_at.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace koord::interference {
namespace {

std::string brief(double value, const char* unit) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), value > 0 && value < 10 ? "%.1f%s" : "%.0f%s", value, unit);
  return text.data();
}

double by_others(const analysis::IoStream& stream) {
  double others = 0;
  for (const analysis::IoPart& part : stream.others) others += part.seconds;
  const double all = stream.requests * stream.mean;
  return all > 0 ? std::min(1.0, others / all) : 0;
}

}  // namespace

std::string looked_at_cpu(double held_up) {
  return "held up for > 1 ms during " + brief(100 * held_up, " %") + " of the time";
}

std::string looked_at(const analysis::IoWindow& window,
                      const std::function<std::string(std::uint32_t device)>& name_of_device) {
  const auto longest =
      std::max_element(window.streams.begin(), window.streams.end(),
                       [](const analysis::IoStream& a, const analysis::IoStream& b) { return a.mean < b.mean; });
  if (longest == window.streams.end() || longest->requests <= 0) return "no requests";
  return name_of_device(longest->device) + " " + brief(1000 * longest->mean, " ms for a ") +
         (longest->is_write ? "write" : "read") + ", " + brief(100 * by_others(*longest), " % by others");
}

std::string looked_at(const analysis::MemoryWindow& window) {
  std::string text = brief(window.refaults, " refaults/s");
  if (window.refaults > 0 && window.read_time > 0)
    text += ", " + brief(1000 * refault_time_of(window), " ms/s for reading them");
  return text;
}

}  // namespace koord::interference
