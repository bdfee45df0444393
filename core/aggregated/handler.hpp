// SPDX-License-Identifier: Apache-2.0
// Serves an Api on an http::Server: a guard authenticates and authorizes each request before its body is read, a
// handler answers it.
#pragma once

#include <functional>
#include <optional>

#include "core/aggregated/api.hpp"
#include "core/http/routes.hpp"

namespace koord::aggregated {

// Each is called on the loop thread, with a request that has no body yet, and calls back once, on the loop thread. Both
// may ask an API server.
struct Access {
  using OnIdentity = std::function<void(Outcome<Identity>)>;
  using OnDecision = std::function<void(std::optional<Failure>)>;  // nullopt: allowed

  std::function<void(const http::Request&, OnIdentity)> authenticate;
  // Empty: all is allowed.
  std::function<void(const Identity&, const Attributes&, OnDecision)> authorize = {};
};

// Passes what `access` allows, and paths that are open to all (Api::is_open_path).
http::Guard make_guard(Access access);

// The identity that the guard found; null: the path is open to all.
const Identity* identity_of(const http::Request& request);

// [any thread] For requests that passed the guard. The api outlives the server's workers.
http::SlowHandler make_handler(Api& api);

// Serves all paths that have no route of their own.
void add_routes(http::Routes& routes, Api& api, Access access);

}  // namespace koord::aggregated
