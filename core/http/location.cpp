// SPDX-License-Identifier: Apache-2.0
#include "core/http/location.hpp"

#include <algorithm>

#include "core/http/socket_address.hpp"

namespace koord::http {
namespace {

Error not_a_location(std::string_view text, const std::string& why) {
  std::string shown(text.substr(0, 200));
  std::replace_if(shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) - 0x20u >= 0x5f; }, '?');
  return invalid("'" + shown + "': " + why + ", expected 'http://127.0.0.1:9100/metrics', 'https://…' or 'unix:/run/x.sock:/metrics'");
}

// Nothing that ends the request's first line, or is for a browser alone.
bool is_target(std::string_view text) {
  return text.starts_with('/') && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f && c != '#'; });
}

bool has_port(std::string_view host) {
  std::size_t colon = host.rfind(':');
  return colon != std::string_view::npos && !host.ends_with(']');
}

Result<Location> over_tcp(std::string_view text, std::string_view rest, bool tls) {
  std::size_t slash = std::min(rest.find('/'), rest.size());
  Location location{std::string(rest.substr(0, slash)), std::string(rest.substr(slash)), {}, tls};
  location.host = location.endpoint;
  if (location.target.empty()) location.target = "/";
  if (!has_port(location.endpoint)) location.endpoint += tls ? ":443" : ":80";
  if (location.endpoint.starts_with(':')) return not_a_location(text, "found no host");
  if (Result<SocketAddress> address = parse_tcp_address(location.endpoint); !address)
    return not_a_location(text, "found no address of a host, and names are not looked up");
  return location;
}

Result<Location> over_unix(std::string_view text, std::string_view rest) {
  std::size_t colon = std::min(rest.find(":/"), rest.size());
  Location location{std::string(rest.substr(0, colon)), std::string(rest.substr(colon)), "localhost", false};
  location.target.erase(0, 1);
  if (location.target.empty()) location.target = "/";
  if (!location.endpoint.starts_with('/')) return not_a_location(text, "found no absolute path of a socket");
  if (Result<SocketAddress> address = unix_address(location.endpoint); !address)
    return not_a_location(text, "found a path that is too long for a socket");
  return location;
}

}  // namespace

std::string Location::server_name() const {
  std::string name = has_port(host) ? host.substr(0, host.rfind(':')) : host;
  return name.starts_with('[') && name.ends_with(']') ? name.substr(1, name.size() - 2) : name;
}

Result<Location> parse_location(std::string_view text) {
  constexpr std::string_view kHttp = "http://", kHttps = "https://", kUnix = "unix:";
  const bool unix_socket = text.starts_with(kUnix), tls = text.starts_with(kHttps);
  if (!unix_socket && !tls && !text.starts_with(kHttp)) return not_a_location(text, "found no scheme of ours");
  Location location =
      TRY(unix_socket ? over_unix(text, text.substr(kUnix.size())) : over_tcp(text, text.substr(tls ? kHttps.size() : kHttp.size()), tls));
  if (!is_target(location.target)) return not_a_location(text, "found a target that is none");
  return location;
}

}  // namespace koord::http
