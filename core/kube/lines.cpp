// SPDX-License-Identifier: Apache-2.0
#include "core/kube/lines.hpp"

#include <utility>

namespace koord::kube {
namespace {

Result<void> give(std::string_view line, const Lines::OnLine& on_line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty() || on_line(line)) return {};
  return Error{std::make_error_code(std::errc::operation_canceled), "reading was cancelled"};
}

}  // namespace

Result<void> Lines::feed(std::string_view piece, const OnLine& on_line) {
  while (!piece.empty()) {
    const std::size_t newline = piece.find('\n');
    const std::string_view part = piece.substr(0, newline);
    if (part.size() > max_line_ - begun_.size())
      return Error{std::make_error_code(std::errc::message_size), "found a line of more than " + std::to_string(max_line_) + " bytes, expected at most those"};
    if (newline == std::string_view::npos) {
      begun_ += part;
      return {};
    }
    piece.remove_prefix(newline + 1);
    // Mostly a line comes whole, and is given from where it stands.
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

Result<void> Lines::end(const OnLine& on_line) {
  const std::string line = std::exchange(begun_, {});
  return give(line, on_line);
}

}  // namespace koord::kube
