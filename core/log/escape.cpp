// SPDX-License-Identifier: Apache-2.0
#include "core/log/escape.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace koord::log {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

void append(Buffer& out, std::string_view text) {
  out.append(text.data(), text.data() + text.size());
}

bool is_control(unsigned char c) {
  return c < 0x20 || c == 0x7f;
}

// The letter behind the backslash, 0 when there is no short form.
char short_escape(char c) {
  switch (c) {
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// How many bytes the well-formed UTF-8 sequence at the front has; 0 when it is not one (Unicode 15, table
// 3-7).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length), is_continuation))
    return 0;
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) > 0x9f;
  const bool too_large = first == 0xf4 && byte(1) > 0x8f;
  return overlong || surrogate || too_large ? 0 : length;
}

void append_json_ascii(Buffer& out, char c) {
  if (c == '"' || c == '\\') {
    out.push_back('\\');
    out.push_back(c);
  } else if (char letter = short_escape(c)) {
    out.push_back('\\');
    out.push_back(letter);
  } else if (is_control(static_cast<unsigned char>(c))) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
  } else {
    out.push_back(c);
  }
}

}  // namespace

void append_printable(Buffer& out, std::string_view text) {
  for (char c : text) {
    if (char letter = short_escape(c)) {
      out.push_back('\\');
      out.push_back(letter);
    } else if (is_control(static_cast<unsigned char>(c))) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
}

void append_json_string(Buffer& out, std::string_view text) {
  out.push_back('"');
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 1) append_json_ascii(out, text.front());
    if (length == 0) append(out, kReplacement);
    if (length > 1) append(out, text.substr(0, length));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  out.push_back('"');
}

}  // namespace koord::log
