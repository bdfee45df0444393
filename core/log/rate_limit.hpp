// SPDX-License-Identifier: Apache-2.0
// RateLimit keeps a failure that repeats from flooding the log: the first lines of a period pass, the rest is
// counted, and the next line that passes says how many were left out. One per place that logs. [any thread]
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/log/log.hpp"

namespace koord::log {

class RateLimit {
 public:
  RateLimit(std::uint64_t lines, Duration period) : lines_(lines), period_(period) {}

  // Asks to pass one line. nullopt: leave it out; otherwise how many were left out since the last that
  // passed.
  std::optional<std::uint64_t> admit(Time now);

  // Writes the text, with the count of those left out behind it, or counts it as left out.
  void write(Time now, Category category, Level level, std::string_view text);

 private:
  std::mutex mutex_;
  const std::uint64_t lines_;
  const Duration period_;
  std::optional<Time> period_start_;
  std::uint64_t passed_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace koord::log
