// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/json_output.hpp"

#include <array>
#include <cstdio>

namespace koord::ctl {
namespace {

constexpr char kFirstByte = '\xC2';
constexpr char kDelete = '\x7F';

std::array<char, 8> escaped(char byte) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\u00%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  return text;
}

bool is_second_byte_of_control(char byte) {
  return static_cast<unsigned char>(byte) >= 0x80 && static_cast<unsigned char>(byte) <= 0x9F;
}

}  // namespace

JsonOutput::int_type JsonOutput::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
  put(traits_type::to_char_type(character));
  return to_ ? character : traits_type::eof();
}

std::streamsize JsonOutput::xsputn(const char* text, std::streamsize size) {
  for (std::streamsize i = 0; i < size; ++i) put(text[i]);
  return to_ ? size : 0;
}

int JsonOutput::sync() { return to_.flush() ? 0 : -1; }

void JsonOutput::put(char byte) {
  if (has_first_byte_ && is_second_byte_of_control(byte)) {
    has_first_byte_ = false;
    to_ << escaped(byte).data();
    return;
  }
  end_character();
  if (byte == kFirstByte)
    has_first_byte_ = true;
  else if (byte == kDelete)
    to_ << escaped(byte).data();
  else
    to_.put(byte);
}

void JsonOutput::end_character() {
  if (has_first_byte_) to_.put(kFirstByte);
  has_first_byte_ = false;
}

}  // namespace koord::ctl
