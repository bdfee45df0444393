// SPDX-License-Identifier: Apache-2.0
// Routes of `koordctl ui`, for requests that Access admits.
//
//   GET /               the page, and its files
//   GET /api/v1/…       the agent's answer to the same request
//   GET /sql?query=S    the rows of a SELECT over the metric cache's file, as `koordctl sql -o json` prints them;
//   &limit=N
//
// Nothing of it changes anything: POSTs get no further than Access.
#pragma once

#include <functional>
#include <optional>

#include "core/http/routes.hpp"
#include "core/ui/source.hpp"

namespace koord::ui {

// Returns the answer to a request that gets no further, as Access::check() does. [loop]
using CheckAccess = std::function<std::optional<http::Response>(const http::Request&)>;

// All answers have the headers that forbid scripts, styles and frames from elsewhere.
// The page's files are served on the loop, also while all workers wait for the agent. `source` outlives the routes.
http::Routes viewer_routes(Source& source, CheckAccess check);

}  // namespace koord::ui
