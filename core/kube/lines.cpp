// SPDX-License-Identifier: Apache-2.0
#include "core/kube/lines.hpp"

#include <algorithm>
#include <utility>

namespace koord::kube {
namespace {

Error cancelled() { return Error{std::make_error_code(std::errc::operation_canceled), "reading was cancelled"}; }

Result<void> give(std::string_view line, const Lines::OnLine& on_line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty() || on_line(line)) return {};
  return cancelled();
}

}  // namespace

Result<void> Lines::feed(std::string_view piece, const OnLine& on_line) {
  while (!piece.empty()) {
    const std::size_t newline = piece.find('\n');
    const std::string_view part = piece.substr(0, newline);
    const bool is_too_long = skipped_ > 0 || part.size() > max_line_ - begun_.size();
    if (is_too_long) TRY(skip(part));
    if (newline == std::string_view::npos) {
      if (!is_too_long) begun_ += part;
      return {};
    }
    piece.remove_prefix(newline + 1);
    if (is_too_long) {
      TRY(end_long_line());
      continue;
    }
    // Usually a line arrives in one piece, and is passed on without a copy.
    if (begun_.empty()) {
      TRY(give(part, on_line));
      continue;
    }
    std::string line = std::exchange(begun_, {});
    line += part;
    TRY(give(line, on_line));
  }
  return {};
}

Result<void> Lines::skip(std::string_view part) {
  const std::size_t kept = std::min(part.size(), max_line_ - begun_.size());
  begun_ += part.substr(0, kept);
  skipped_ += part.size() - kept;
  const std::size_t most = on_long_line_ ? max_line_ + kMostSkipped : max_line_;
  if (begun_.size() + skipped_ <= most) return {};
  return Error{std::make_error_code(std::errc::message_size),
               "found a line of more than " + std::to_string(most) + " bytes, expected at most those"};
}

Result<void> Lines::end_long_line() {
  const std::string head = std::exchange(begun_, {});
  const std::size_t bytes = head.size() + std::exchange(skipped_, 0);
  if (on_long_line_(head, bytes)) return {};
  return cancelled();
}

Result<void> Lines::end(const OnLine& on_line) {
  if (skipped_ > 0) return end_long_line();
  const std::string line = std::exchange(begun_, {});
  return give(line, on_line);
}

}  // namespace koord::kube
