// SPDX-License-Identifier: Apache-2.0
#include "core/exposition/number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace koord::exposition {
namespace {

// Returns the value of a number outside the range of a double. A number that is too large is invalid; a number that is
// too small becomes about 0.
std::optional<double> out_of_range(std::string_view digits) {
  double value = std::strtod(std::string(digits).c_str(), nullptr);
  return std::isinf(value) ? std::nullopt : std::optional(value);
}

}  // namespace

bool equal_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b; });
}

std::optional<double> number_of(std::string_view text) {
  bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  double value = 0;
  if ((text[0] >= '0' && text[0] <= '9') || text[0] == '.') {
    auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size()) return std::nullopt;
    if (failed == std::errc::result_out_of_range) {
      std::optional<double> small = out_of_range(text);
      if (!small) return std::nullopt;
      value = *small;
    } else if (failed != std::errc{}) {
      return std::nullopt;
    }
  } else if (equal_ignoring_case(text, "nan")) {
    return std::nan("");
  } else if (equal_ignoring_case(text, "inf") || equal_ignoring_case(text, "infinity")) {
    value = HUGE_VAL;
  } else {
    return std::nullopt;
  }
  return negative ? -value : value;
}

}  // namespace koord::exposition
