// SPDX-License-Identifier: Apache-2.0
#include "core/kube/server_url.hpp"

#include <algorithm>
#include <limits>

#include "core/base/parse.hpp"

namespace koord::kube {
namespace {

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

bool is_address_character(char c) {
  return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9') || c == ':' || c == '.';
}

bool is_path_character(char c) {
  return c > ' ' && c < '\x7f' && c != '?' && c != '#';
}

bool holds_only(std::string_view text, bool (*allowed)(char)) {
  return !text.empty() && text.size() <= 1024 && std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace

Result<ServerUrl> parse_server_url(std::string_view text) {
  const Error wrong = invalid("found '" + std::string(text.substr(0, 256)) + "', expected 'https://HOST[:PORT][/PREFIX]'");
  constexpr std::string_view scheme = "https://";
  if (!text.starts_with(scheme)) return wrong;
  text.remove_prefix(scheme.size());
  ServerUrl url;
  std::string_view host = text.substr(0, text.find('/'));
  std::string_view path = text.substr(host.size());
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!path.empty() && !holds_only(path, is_path_character)) return wrong;
  url.path_prefix = path;

  const bool bracketed = host.starts_with('[');
  const std::size_t end = bracketed ? host.find(']') : host.find(':');
  if (bracketed && end == std::string_view::npos) return wrong;
  std::string_view rest = end == std::string_view::npos ? std::string_view() : host.substr(end + (bracketed ? 1 : 0));
  url.host = bracketed ? host.substr(1, end - 1) : host.substr(0, end);
  if (!holds_only(url.host, bracketed ? is_address_character : is_host_character)) return wrong;
  if (rest.empty()) return url;
  if (!rest.starts_with(':')) return wrong;
  const auto port = parse_uint(rest.substr(1));
  if (!port || *port == 0 || *port > std::numeric_limits<std::uint16_t>::max()) return wrong;
  url.port = static_cast<std::uint16_t>(*port);
  return url;
}

}  // namespace koord::kube
