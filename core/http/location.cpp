// SPDX-License-Identifier: Apache-2.0
#include "core/http/location.hpp"

#include <algorithm>

#include "core/base/url.hpp"
#include "core/http/socket_address.hpp"

namespace koord::http {
namespace {

Error not_a_location(std::string_view text, const std::string& why) {
  std::string shown(text.substr(0, 200));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) - 0x20u >= 0x5f; }, '?');
  return invalid("'" + shown + "': " + why +
                 ", expected 'http://127.0.0.1:9100/metrics', 'https://…' or 'unix:/run/x.sock:/metrics'");
}

Result<Location> over_tcp(std::string_view text) {
  Result<Url> url = parse_url(text);
  if (!url) return not_a_location(text, url.error().message());
  const bool tls = url->scheme == "https";
  Location location{.endpoint = {},
                    .target = url->target.empty() ? "/" : url->target,
                    .host = url->authority(),
                    .server_name = url->host,
                    .tls = tls};
  if (!url->port) url->port = tls ? 443 : 80;
  location.endpoint = url->authority();
  if (Result<SocketAddress> address = parse_tcp_address(location.endpoint); !address)
    return not_a_location(text, "found no address of a host, and names are not looked up");
  return location;
}

Result<Location> over_unix(std::string_view text, std::string_view rest) {
  const std::size_t colon = std::min(rest.find(":/"), rest.size());
  Location location{
      .endpoint = std::string(rest.substr(0, colon)), .target = "/", .host = "localhost", .server_name = "localhost"};
  if (colon < rest.size()) location.target = rest.substr(colon + 1);
  if (!location.endpoint.starts_with('/')) return not_a_location(text, "found no absolute path of a socket");
  if (Result<SocketAddress> address = unix_address(location.endpoint); !address)
    return not_a_location(text, "found a path that is too long for a socket");
  if (Result<void> checked = check_url_target(location.target); !checked)
    return not_a_location(text, checked.error().message());
  return location;
}

}  // namespace

Result<Location> parse_location(std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  if (text.starts_with(kUnix)) return over_unix(text, text.substr(kUnix.size()));
  if (text.starts_with("http://") || text.starts_with("https://")) return over_tcp(text);
  return not_a_location(text, "found another scheme");
}

}  // namespace koord::http
