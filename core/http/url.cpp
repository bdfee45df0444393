// SPDX-License-Identifier: Apache-2.0
#include "core/http/url.hpp"

#include "core/base/parse.hpp"

namespace koord::http {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_unreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("-._~").find(c) != std::string_view::npos;
}

// The character that the escape at the front of `text` stands for, -1 when it stands for none. NUL is none:
// it would end a name early wherever a C string is made of it.
int unescape(std::string_view text) {
  if (text.size() < 3) return -1;
  int high = hex_digit(text[1]), low = hex_digit(text[2]);
  if (high < 0 || low < 0) return -1;
  int value = high * 16 + low;
  return value == 0 ? -1 : value;
}

Result<Query::Parameter> parse_parameter(std::string_view text) {
  std::size_t equals = text.find('=');
  std::string name = TRY(percent_decode(text.substr(0, equals), true));
  if (name.empty()) return invalid("query parameter '" + std::string(text) + "' has no name");
  if (equals == std::string_view::npos) return Query::Parameter(std::move(name), "");
  std::string value = TRY(percent_decode(text.substr(equals + 1), true));
  return Query::Parameter(std::move(name), std::move(value));
}

}  // namespace

std::optional<std::string_view> Query::get(std::string_view name) const {
  for (const auto& [parameter, value] : parameters_) {
    if (parameter == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Query::get_all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [parameter, value] : parameters_) {
    if (parameter == name) values.push_back(value);
  }
  return values;
}

Result<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  if (text.find('\0') != std::string_view::npos) return invalid("a NUL byte stands in the target");
  std::string decoded;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(1)) {
    char c = rest.front();
    if (c == '%') {
      int value = unescape(rest);
      if (value < 0)
        return invalid("'" + std::string(text) + "' has a '%' without two hexadecimal digits of a character");
      decoded += static_cast<char>(value);
      rest.remove_prefix(2);
    } else {
      decoded += c == '+' && plus_is_space ? ' ' : c;
    }
  }
  return decoded;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (char c : text) {
    if (is_unreserved(c)) {
      encoded += c;
      continue;
    }
    auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += digits[byte >> 4];
    encoded += digits[byte & 15];
  }
  return encoded;
}

Result<Query> parse_query(std::string_view text) {
  std::vector<Query::Parameter> parameters;
  while (auto field = next_field(text, '&')) {
    if (field->empty()) continue;
    if (parameters.size() == kMaxQueryParameters)
      return invalid("the query has more than " + std::to_string(kMaxQueryParameters) + " parameters");
    parameters.push_back(TRY(parse_parameter(*field)));
  }
  return Query(std::move(parameters));
}

Result<Target> parse_target(std::string_view text) {
  if (!text.starts_with('/')) return invalid("target '" + std::string(text) + "' does not begin with '/'");
  std::size_t mark = text.find('?');
  std::string path = TRY(percent_decode(text.substr(0, mark), false));
  if (mark == std::string_view::npos) return Target{std::move(path), {}};
  Query query = TRY(parse_query(text.substr(mark + 1)));
  return Target{std::move(path), std::move(query)};
}

}  // namespace koord::http
