// SPDX-License-Identifier: Apache-2.0
#include "core/base/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace koord {
namespace {

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Returns the number of ASCII bytes at the front. Checks eight bytes at a time.
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

std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) > 0x9F;
  const bool too_large = first == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || too_large ? 0 : length;
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(ascii_prefix(text));
    if (text.empty()) return true;
    std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void cut_utf8(std::string& text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return;
  while (max_bytes > 0 && is_continuation(text[max_bytes])) --max_bytes;
  text.resize(max_bytes);
}

std::size_t utf8_count(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_continuation));
}

void cut_utf8_characters(std::string& text, std::size_t max_characters) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_continuation(text[i]) && characters++ == max_characters) return text.resize(i);
  }
}

void replace_invalid_utf8(std::string& text) {
  if (is_valid_utf8(text)) return;
  std::replace_if(
      text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) >= 0x80; }, '?');
}

std::size_t control_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  const bool is_c1 = byte(0) == 0xC2 && text.size() > 1 && byte(1) >= 0x80 && byte(1) <= 0x9F;
  return is_c1 ? 2 : 0;
}

void replace_control_characters(std::string& text, std::string_view kept) {
  replace_invalid_utf8(text);
  std::size_t end = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t control =
        kept.find(text[i]) == std::string_view::npos ? control_length(std::string_view(text).substr(i)) : 0;
    text[end++] = control > 0 ? '?' : text[i];
    i += std::max<std::size_t>(control, 1);
  }
  text.resize(end);
}

}  // namespace koord
