// SPDX-License-Identifier: Apache-2.0
// The address of an API server as a kubeconfig has it. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::kube {

struct ServerUrl {
  std::string host;  // an IPv6 address without brackets
  std::uint16_t port = 443;
  std::string path_prefix;  // "" or "/prefix"
};

// "https://HOST[:PORT][/PREFIX]"; an error quotes the text.
Result<ServerUrl> parse_server_url(std::string_view text);

}  // namespace koord::kube
