// SPDX-License-Identifier: Apache-2.0
// The handler that serves an Api on an http::Server: it authenticates, authorizes, answers. [any thread]
#pragma once

#include <functional>
#include <optional>

#include "core/aggregated/api.hpp"
#include "core/http/routes.hpp"

namespace koord::aggregated {

// Each calls back once, on any thread. Both may ask an API server.
struct Access {
  using OnIdentity = std::function<void(Outcome<Identity>)>;
  using OnDecision = std::function<void(std::optional<Failure>)>;  // nullopt: allowed

  std::function<void(const http::Request&, OnIdentity)> authenticate;
  // Empty: all is allowed.
  std::function<void(const Identity&, const Attributes&, OnDecision)> authorize = {};
};

// The api outlives the server's workers.
http::SlowHandler make_handler(Api& api, Access access);

// Serves all paths that have no route of their own.
void add_routes(http::Routes& routes, Api& api, Access access);

}  // namespace koord::aggregated
