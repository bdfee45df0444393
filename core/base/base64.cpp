// SPDX-License-Identifier: Apache-2.0
#include "core/base/base64.hpp"

#include <cstdint>

namespace koord {

std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned characters = 0, padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    const std::size_t value = alphabet.find(c);
    if (c == '=') {
      ++padding;
    } else if (value == std::string_view::npos || padding > 0) {
      return std::nullopt;
    } else {
      bits = bits << 6 | static_cast<std::uint32_t>(value);
    }
    if (++characters % 4 != 0) continue;
    if (padding > 2) return std::nullopt;
    bits <<= 6 * padding;
    for (unsigned i = 0; i < 3 - padding; ++i) bytes += static_cast<char>(bits >> (16 - 8 * i) & 0xff);
    bits = 0;
  }
  if (characters % 4 != 0) return std::nullopt;
  return bytes;
}

}  // namespace koord
