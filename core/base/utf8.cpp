// SPDX-License-Identifier: Apache-2.0
#include "core/base/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace koord {
namespace {

// Length of the UTF-8 sequence at the front of `text`, 0 when it is none: overlong forms, surrogates and
// numbers beyond U+10FFFF are none.
std::size_t utf8_sequence(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  if (first < 0x80) return 1;
  std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  bool surrogate = first == 0xED && byte(1) > 0x9F;
  bool too_big = first == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || too_big ? 0 : length;
}

// How many bytes at the front are ASCII, eight at a time.
std::size_t ascii_prefix(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  std::size_t n = 0;
  for (std::uint64_t block; text.size() - n >= sizeof block; n += sizeof block) {
    std::memcpy(&block, text.data() + n, sizeof block);
    if ((block & kHighBits) != 0) break;
  }
  return n;
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(ascii_prefix(text));
    if (text.empty()) return true;
    std::size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void cut_utf8(std::string& text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return;
  const auto is_inside = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; };
  while (max_bytes > 0 && is_inside(text[max_bytes])) --max_bytes;
  text.resize(max_bytes);
}

}  // namespace koord
