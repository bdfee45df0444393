// SPDX-License-Identifier: Apache-2.0
// Routes of `koordctl ui`, for requests that Access admits.
//
//   GET /               the page, and its files
//   GET /api/v1/…       the agent's answer to the same request
//   GET /sql?query=S    the rows of a SELECT over the metric cache's file, as `koordctl sql -o json` prints them;
//   &limit=N
//
// All routes are read-only: Access refuses POSTs.
#pragma once

#include <functional>
#include <optional>

#include "core/http/routes.hpp"
#include "core/ui/source.hpp"

namespace koord::ui {

// Returns the response to a request that must not be processed further, like Access::check(). [loop]
using CheckAccess = std::function<std::optional<http::Response>(const http::Request&)>;

// All responses have headers that forbid scripts, styles and frames from other origins. The page's files are served on
// the loop, so they are available while all workers wait for the agent. `source` must outlive the routes.
http::Routes viewer_routes(Source& source, CheckAccess check);

}  // namespace koord::ui
