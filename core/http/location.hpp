// SPDX-License-Identifier: Apache-2.0
// The address of an HTTP resource on this node, as a plugin or an operator writes it: "http://127.0.0.1:9100/metrics",
// "https://[::1]:10250/metrics", "unix:/run/x.sock:/metrics". [any thread]
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::http {

struct Location {
  std::string endpoint;     // for the client: "127.0.0.1:9100" or the path of a socket
  std::string target;       // "/metrics?all=1"
  std::string host;         // for the header Host
  std::string server_name;  // the host without port and brackets, for its certificate
  bool tls = false;
};

// Accepts addresses and "localhost"; other names are not looked up.
Result<Location> parse_location(std::string_view text);

}  // namespace koord::http
