// SPDX-License-Identifier: Apache-2.0
#include "core/kube/server_url.hpp"

#include <utility>

#include "core/base/url.hpp"

namespace koord::kube {

Result<ServerUrl> parse_server_url(std::string_view text) {
  constexpr std::uint16_t kHttps = 443;
  Result<Url> url = parse_url(text);
  if (!url || url->scheme != "https" || url->target.find('?') != std::string::npos)
    return invalid("found '" + std::string(text.substr(0, 256)) + "', expected 'https://HOST[:PORT][/PREFIX]'");
  while (url->target.ends_with('/')) url->target.pop_back();
  return ServerUrl{
      .host = std::move(url->host), .port = url->port.value_or(kHttps), .path_prefix = std::move(url->target)};
}

}  // namespace koord::kube
