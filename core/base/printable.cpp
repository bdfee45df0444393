// SPDX-License-Identifier: Apache-2.0
#include "core/base/printable.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/utf8.hpp"

namespace koord {

std::string escaped_control(std::string_view control) {
  switch (control.front()) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), control.size() == 2 ? "\\u00%02x" : "\\x%02x",
                static_cast<unsigned>(static_cast<unsigned char>(control.back())));
  return text.data();
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  // Later bytes cannot be shown. Four more keep the last character whole.
  std::string valid(text.substr(0, max_bytes + 4));
  const bool is_long = text.size() > valid.size();
  if (is_long) cut_utf8(valid, max_bytes);
  replace_invalid_utf8(valid);
  std::string shown;
  for (std::string_view rest = valid; !rest.empty();) {
    const std::size_t control = control_length(rest);
    const std::size_t size = std::max(control, utf8_length(rest));
    const std::string piece =
        control > 0 ? escaped_control(rest.substr(0, control)) : std::string(rest.substr(0, size));
    if (shown.size() + piece.size() > max_bytes) return shown + "…";
    shown += piece;
    rest.remove_prefix(size);
  }
  return is_long ? shown + "…" : shown;
}

}  // namespace koord
