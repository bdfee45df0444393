// SPDX-License-Identifier: Apache-2.0
#include "core/log/escape.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "core/base/printable.hpp"
#include "core/base/utf8.hpp"

namespace koord::log {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

void append(Buffer& out, std::string_view text) { out.append(text.data(), text.data() + text.size()); }

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

// Returns the letter after the backslash; 0: the character has no short form.
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
  while (!text.empty()) {
    const std::size_t control = control_length(text);
    if (control > 0)
      append(out, escaped_control(text.substr(0, control)));
    else
      out.push_back(text.front());
    text.remove_prefix(std::max<std::size_t>(control, 1));
  }
}

void append_json_string(Buffer& out, std::string_view text) {
  out.push_back('"');
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 2 && control_length(text) == 2) {
      fmt::format_to(std::back_inserter(out), "\\u00{:02x}", static_cast<unsigned char>(text[1]));
      text.remove_prefix(2);
      continue;
    }
    if (length == 1) append_json_ascii(out, text.front());
    if (length == 0) append(out, kReplacement);
    if (length > 1) append(out, text.substr(0, length));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  out.push_back('"');
}

}  // namespace koord::log
