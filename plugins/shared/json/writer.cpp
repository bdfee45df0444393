// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/json/writer.hpp"

#include "core/base/utf8.hpp"

namespace koord::json {

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view text) {
  separate();
  text_ += text;
  needs_comma_ = true;
  return *this;
}

void JsonWriter::separate() {
  if (needs_comma_) text_ += ',';
}

void JsonWriter::quote(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  const bool valid = is_valid_utf8(text);
  text_ += '"';
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (byte < 0x20) {
      text_ += "\\u00";
      text_ += kHex[byte >> 4];
      text_ += kHex[byte & 15];
    } else if (byte >= 0x80 && !valid) {
      text_ += "\xef\xbf\xbd";
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

}  // namespace koord::json
