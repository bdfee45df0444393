// SPDX-License-Identifier: Apache-2.0
#include "core/json/scanner.hpp"

#include <algorithm>
#include <charconv>

#include "core/json/writer.hpp"

namespace koord {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<unsigned> hex_of(std::string_view digits) {
  unsigned value = 0;
  const char* end = digits.data() + digits.size();
  auto [rest, error] = std::from_chars(digits.data(), end, value, 16);
  return digits.size() == 4 && error == std::errc{} && rest == end ? std::optional(value) : std::nullopt;
}

void append_utf8(std::string& out, unsigned point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0 | (point >> 6));
    out += static_cast<char>(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    out += static_cast<char>(0xE0 | (point >> 12));
    out += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (point & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (point >> 18));
    out += static_cast<char>(0x80 | ((point >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (point & 0x3F));
  }
}

// Appends the character of \uXXXX, and reads a second escape if the first is half of a surrogate pair. A single half
// becomes U+FFFD.
void append_escaped_point(std::string& out, std::string_view& rest) {
  unsigned point = hex_of(rest.substr(0, 4)).value_or(0xFFFD);
  rest.remove_prefix(4);
  if (point >= 0xD800 && point < 0xE000) {
    std::optional<unsigned> low = rest.starts_with("\\u") ? hex_of(rest.substr(2, 4)) : std::nullopt;
    const bool pair = point < 0xDC00 && low && *low >= 0xDC00 && *low < 0xE000;
    if (pair) rest.remove_prefix(6);
    point = pair ? 0x10000 + ((point - 0xD800) << 10) + (*low - 0xDC00) : 0xFFFD;
  }
  append_utf8(out, point);
}

// Replaces the escapes. skip_string() must have accepted the text.
std::string without_escapes(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  while (!raw.empty()) {
    const std::size_t plain = std::min(raw.find('\\'), raw.size());
    out.append(raw.substr(0, plain));
    raw.remove_prefix(plain);
    if (raw.empty()) break;
    const char what = raw[1];
    raw.remove_prefix(2);
    switch (what) {
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u':
        append_escaped_point(out, raw);
        break;
      default:
        out += what;
    }
  }
  return out;
}

}  // namespace

Error JsonScanner::error() const {
  std::string found = at_ < text_.size() ? "'" + std::string(text_.substr(at_, 1)) + "'" : "the end";
  return invalid("not the JSON that was expected: at byte " + std::to_string(at_) + " found " + found + ", expected " +
                 std::string(expected_));
}

bool JsonScanner::wrong(std::string_view expected) {
  expected_ = expected;
  return false;
}

char JsonScanner::peek() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
    ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonScanner::take(char wanted) {
  if (peek() != wanted || at_ == text_.size()) return false;
  ++at_;
  return true;
}

bool JsonScanner::take_word(std::string_view word) {
  if (!text_.substr(at_).starts_with(word)) return wrong("a value");
  at_ += word.size();
  return true;
}

bool JsonScanner::take_null() { return peek() == 'n' && take_word("null"); }

bool JsonScanner::enter() { return ++depth_ <= kMaxDepth || wrong("fewer levels"); }

Result<void> JsonScanner::object(const OnMember& visit) {
  if (take_null()) return {};
  if (!take('{')) {
    wrong("an object");
    return error();
  }
  if (!enter()) return error();
  if (!take('}')) {
    do {
      const bool is_text = peek() == '"';
      const std::size_t begin = at_ + 1;
      const bool is_key = is_text ? skip_string() : wrong("a member's name");
      if (!is_key) return error();
      const std::string key = without_escapes(text_.substr(begin, at_ - 1 - begin));
      if (!take(':')) {
        wrong("':'");
        return error();
      }
      TRY(visit(key));
    } while (take(','));
    if (!take('}')) {
      wrong("',' or '}'");
      return error();
    }
  }
  --depth_;
  return {};
}

Result<void> JsonScanner::array(const OnItem& visit) {
  if (take_null()) return {};
  if (!take('[')) {
    wrong("a list");
    return error();
  }
  if (!enter()) return error();
  if (!take(']')) {
    do {
      TRY(visit());
    } while (take(','));
    if (!take(']')) {
      wrong("',' or ']'");
      return error();
    }
  }
  --depth_;
  return {};
}

Result<std::string> JsonScanner::string() {
  if (take_null()) return std::string();
  const bool is_text = peek() == '"';
  const std::size_t begin = at_ + 1;
  const bool is_whole = is_text ? skip_string() : wrong("text");
  if (!is_whole) return error();
  return without_escapes(text_.substr(begin, at_ - 1 - begin));
}

Result<std::optional<std::int64_t>> JsonScanner::integer() {
  if (take_null()) return std::optional<std::int64_t>();
  peek();
  const std::size_t begin = at_;
  if (!skip_number()) return error();
  std::int64_t number = 0;
  const char* end = text_.data() + at_;
  auto [rest, failure] = std::from_chars(text_.data() + begin, end, number);
  return failure == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

Result<std::string_view> JsonScanner::value() {
  peek();
  const std::size_t begin = at_;
  if (!skip_value()) return error();
  return text_.substr(begin, at_ - begin);
}

Result<void> JsonScanner::end() {
  peek();
  if (at_ == text_.size()) return {};
  wrong("the end");
  return error();
}

bool JsonScanner::skip_string() {
  for (++at_; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (static_cast<unsigned char>(c) < 0x20) return wrong("no control character in text");
    if (c == '"') {
      ++at_;
      return true;
    }
    if (c != '\\') continue;
    if (++at_ == text_.size()) break;
    if (text_[at_] == 'u') {
      if (!hex_of(text_.substr(at_ + 1, 4))) return wrong("four hexadecimal digits");
      at_ += 4;
    } else if (std::string_view("\"\\/bfnrt").find(text_[at_]) == std::string_view::npos) {
      return wrong("an escape");
    }
  }
  return wrong("the end of a text");
}

bool JsonScanner::skip_number() {
  auto digits = [this] {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > begin || wrong("a digit");
  };
  auto next_is = [this](std::string_view any) {
    const bool is = at_ < text_.size() && any.find(text_[at_]) != std::string_view::npos;
    at_ += is ? 1 : 0;
    return is;
  };
  if (!next_is("-") && (at_ == text_.size() || !is_digit(text_[at_]))) return wrong("a value");
  if (!next_is("0") && !digits()) return false;
  if (next_is(".") && !digits()) return false;
  if (!next_is("eE")) return true;
  next_is("+-");
  return digits();
}

bool JsonScanner::skip_object() {
  ++at_;
  if (!enter()) return false;
  if (!take('}')) {
    do {
      if (peek() != '"') return wrong("a member's name");
      if (!skip_string()) return false;
      if (!take(':')) return wrong("':'");
      if (!skip_value()) return false;
    } while (take(','));
    if (!take('}')) return wrong("',' or '}'");
  }
  --depth_;
  return true;
}

bool JsonScanner::skip_array() {
  ++at_;
  if (!enter()) return false;
  if (!take(']')) {
    do {
      if (!skip_value()) return false;
    } while (take(','));
    if (!take(']')) return wrong("',' or ']'");
  }
  --depth_;
  return true;
}

bool JsonScanner::skip_value() {
  switch (peek()) {
    case '{':
      return skip_object();
    case '[':
      return skip_array();
    case '"':
      return skip_string();
    case 't':
      return take_word("true");
    case 'f':
      return take_word("false");
    case 'n':
      return take_word("null");
    default:
      return skip_number();
  }
}

Result<std::optional<std::string_view>> json_member(std::string_view object, std::string_view name) {
  std::optional<std::string_view> found;
  JsonScanner text(object);
  auto visit = [&](std::string_view key) -> Result<void> {
    std::string_view value = TRY(text.value());
    if (key == name) found = value;
    return {};
  };
  TRY(text.object(visit));
  TRY(text.end());
  return found == "null" ? std::nullopt : found;
}

Result<std::string> with_json_member(std::string_view object, std::string_view name, std::string_view value) {
  std::string members;
  JsonScanner text(object);
  auto keep = [&](std::string_view key) -> Result<void> {
    std::string_view old = TRY(text.value());
    if (key == name) return {};
    members += json_quote(key) + ':';
    members += old;
    members += ',';
    return {};
  };
  TRY(text.object(keep));
  TRY(text.end());
  return '{' + members + json_quote(name) + ':' + std::string(value) + '}';
}

}  // namespace koord
