// SPDX-License-Identifier: Apache-2.0
#include "core/base/url.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "core/base/parse.hpp"

namespace koord {
namespace {

bool is_alphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_name_character(char c) { return is_alphanumeric(c) || c == '-' || c == '.' || c == '_'; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_address_character(char c) { return hex_digit(c) >= 0 || c == ':' || c == '.'; }

// A space or a line break would end the request line. '#' starts a fragment, which only browsers use.
bool is_target_character(char c) { return c > ' ' && c < 0x7f && c != '#'; }

// Returns the character of the escape at the front of `text`; -1 if it is invalid. NUL is invalid, because it would end
// a name early in a C string.
int unescape(std::string_view text) {
  if (text.size() < 3) return -1;
  const int high = hex_digit(text[1]), low = hex_digit(text[2]);
  if (high < 0 || low < 0) return -1;
  const int value = high * 16 + low;
  return value == 0 ? -1 : value;
}

Result<void> take_authority(std::string_view text, Url& url) {
  url.is_ipv6 = text.starts_with('[');
  const std::size_t end = url.is_ipv6 ? text.find(']') : std::min(text.find(':'), text.size());
  if (end == std::string_view::npos) return invalid("found no ']' behind the address");
  url.host = url.is_ipv6 ? text.substr(1, end - 1) : text.substr(0, end);
  if (url.host.empty()) return invalid("found no host");
  if (!std::all_of(url.host.begin(), url.host.end(), url.is_ipv6 ? is_address_character : is_name_character))
    return invalid("found no address or name of a host");
  const std::string_view rest = text.substr(end + (url.is_ipv6 ? 1 : 0));
  if (rest.empty()) return {};
  const Result<std::uint64_t> port = parse_uint(rest.substr(1));
  if (!rest.starts_with(':') || !port || *port == 0 || *port > std::numeric_limits<std::uint16_t>::max())
    return invalid("found no port from 1 to 65535 behind the host");
  url.port = static_cast<std::uint16_t>(*port);
  return {};
}

}  // namespace

std::string Url::authority() const {
  return (is_ipv6 ? "[" + host + "]" : host) + (port ? ":" + std::to_string(*port) : "");
}

Result<Url> parse_url(std::string_view text) {
  constexpr std::string_view kSeparator = "://";
  const std::size_t colon = text.find(kSeparator);
  if (colon == std::string_view::npos) return invalid("found no scheme");
  Url url;
  url.scheme = text.substr(0, colon);
  text.remove_prefix(colon + kSeparator.size());
  const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
  url.target = text.substr(end);
  TRY(take_authority(text.substr(0, end), url));
  if (!url.target.empty()) TRY(check_url_target(url.target));
  return url;
}

Result<void> check_url_target(std::string_view target) {
  if (!target.starts_with('/')) return invalid("found a path that does not begin with '/'");
  if (!std::all_of(target.begin(), target.end(), is_target_character))
    return invalid("found a character that a path cannot contain");
  return {};
}

Result<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  if (text.find('\0') != std::string_view::npos) return invalid("found a NUL byte");
  std::string decoded;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(1)) {
    const char c = rest.front();
    if (c == '%') {
      const int value = unescape(rest);
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
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (is_name_character(c) || c == '~') {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kDigits[byte >> 4];
    encoded += kDigits[byte & 15];
  }
  return encoded;
}

}  // namespace koord
