// SPDX-License-Identifier: Apache-2.0
#include "core/log/rate_limit.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace koord::log {

std::optional<std::uint64_t> RateLimit::admit(Time now) {
  std::lock_guard lock(mutex_);
  if (!period_start_ || now - *period_start_ >= period_) {
    period_start_ = now;
    passed_ = 0;
  }
  if (passed_ == lines_) {
    ++left_out_;
    return std::nullopt;
  }
  ++passed_;
  return std::exchange(left_out_, 0);
}

void RateLimit::write(Time now, Category category, Level level, std::string_view text) {
  if (!enabled(level)) return;
  const std::optional<std::uint64_t> left_out = admit(now);
  if (!left_out) return;
  if (*left_out == 0) return log::write(category, level, text);
  log::write(category, level, fmt::format("{} ({} more like this left out)", text, *left_out));
}

}  // namespace koord::log
