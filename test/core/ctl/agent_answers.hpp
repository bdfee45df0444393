// SPDX-License-Identifier: Apache-2.0
// A socket that answers /api/v1/plugins as an agent does, and the output of a command that uses it.
#pragma once

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <utility>

#include "core/ctl/command.hpp"
#include "test/core/http/running_server.hpp"

namespace koord::test {

class AgentAnswers {
 public:
  explicit AgentAnswers(std::string plugins) : server_(routes(std::move(plugins))) {
    REQUIRE(server_->listen_unix(socket()));
  }
  std::string socket() const { return folder_.path("agent.sock"); }

 private:
  static http::Routes routes(std::string plugins) {
    http::Routes routes;
    routes.get("/api/v1/plugins",
               [plugins = std::move(plugins)](const http::Request&) { return http::Response{.body = plugins}; });
    return routes;
  }

  SocketFolder folder_;
  RunningServer server_;
};

}  // namespace koord::test
