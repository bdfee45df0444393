// SPDX-License-Identifier: Apache-2.0
// Joins string literals at compile time, for example a plugin's own settings and shared settings of its configuration
// schema. Header-only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace koord::settings {

// Returns the text with one 0 at its end.
template <std::size_t... kSizes>
consteval auto joined(const char (&... parts)[kSizes]) {
  std::array<char, (kSizes + ... + 1) - sizeof...(kSizes)> text{};
  auto end = text.begin();
  ((end = std::copy_n(parts, kSizes - 1, end)), ...);
  return text;
}

}  // namespace koord::settings
