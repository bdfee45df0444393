// SPDX-License-Identifier: Apache-2.0
#include "core/metric/text_writer.hpp"

#include <charconv>
#include <cmath>

namespace koord::metric {
namespace {

void append_escaped(std::string& out, std::string_view value) {
  for (char c : value) {
    switch (c) {
      case '\\':
        out += "\\\\";
        break;
      case '"':
        out += "\\\"";
        break;
      case '\n':
        out += "\\n";
        break;
      default:
        out += c;
    }
  }
}

// Most values are whole numbers. They are written as integers, which is several times faster and has no exponent.
char* put_number(char* begin, char* end, double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::abs(value) < kExact && value == std::trunc(value))
    return std::to_chars(begin, end, static_cast<std::int64_t>(value)).ptr;
  return std::to_chars(begin, end, value).ptr;
}

}  // namespace

std::string render_labels(const Labels& labels, bool first) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += first ? '{' : ',';
    text += name;
    text += "=\"";
    append_escaped(text, value);
    text += '"';
    first = false;
  }
  return text;
}

std::string escape_help(std::string_view help) {
  std::string text;
  for (char c : help) {
    if (c == '\\')
      text += "\\\\";
    else if (c == '\n')
      text += "\\n";
    else
      text += c;
  }
  return text;
}

std::string format_number(double value) {
  char text[32];
  return std::string(text, put_number(text, text + sizeof text, value));
}

TextWriter& TextWriter::long_text(std::string_view piece) {
  flush();
  if (piece.size() > buffer_.size())
    out_ += piece;
  else
    text(piece);
  return *this;
}

TextWriter& TextWriter::number(double value) {
  char* begin = room_for(kMaxNumber);
  used_ += static_cast<std::size_t>(put_number(begin, begin + kMaxNumber, value) - begin);
  return *this;
}

TextWriter& TextWriter::number(std::uint64_t value) {
  char* begin = room_for(kMaxNumber);
  used_ += static_cast<std::size_t>(std::to_chars(begin, begin + kMaxNumber, value).ptr - begin);
  return *this;
}

void TextWriter::header(std::string_view family, std::string_view help, Type type) {
  text("# HELP ").text(family).text(" ").text(escape_help(help));
  text("\n# TYPE ").text(family).text(" ").text(to_string(type)).text("\n");
}

void TextWriter::flush() {
  out_.append(buffer_.data(), used_);
  used_ = 0;
}

char* TextWriter::room_for(std::size_t bytes) {
  if (buffer_.size() - used_ < bytes) flush();
  return buffer_.data() + used_;
}

}  // namespace koord::metric
