// SPDX-License-Identifier: Apache-2.0
// Serves an Api on an http::Server. A guard authenticates and authorizes each request before its body is read, then a
// handler answers it.
#pragma once

#include <functional>
#include <optional>

#include "core/aggregated/api.hpp"
#include "core/http/routes.hpp"

namespace koord::aggregated {

// Functions that decide about requests. Each is called on the loop thread with a request without its body, and calls
// back once, on the loop thread. Both may send a request to an API server.
struct Access {
  using OnIdentity = std::function<void(Outcome<Identity>)>;
  using OnDecision = std::function<void(std::optional<Failure>)>;  // nullopt: allowed

  std::function<void(const http::Request&, OnIdentity)> authenticate;
  // Empty: everything is allowed.
  std::function<void(const Identity&, const Attributes&, OnDecision)> authorize = {};
};

// Returns a guard that passes requests that `access` allows, and requests to open paths (Api::is_open_path).
http::Guard make_guard(Access access);

// Returns the identity that the guard found; null if the path is open.
const Identity* identity_of(const http::Request& request);

// Returns a handler for requests that passed the guard. The api must outlive the server's workers. [any thread]
http::SlowHandler make_handler(Api& api);

// Adds routes for all paths without a route of their own.
void add_routes(http::Routes& routes, Api& api, Access access);

}  // namespace koord::aggregated
