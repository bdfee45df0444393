// SPDX-License-Identifier: Apache-2.0
// Routes of `koordctl ui`, for requests that Access admits.
//
//   GET /               the page, and its files
//   GET /api/v1/…       the agent's answer to the same request, through its unix socket
//   GET /sql?query=S    the rows of a SELECT over the metric cache's file, as `koordctl sql -o json` prints them;
//   &limit=N
//
// Nothing of it changes anything: POSTs get no further than Access.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/http/routes.hpp"

namespace koord::ui {

struct ViewerSources {
  std::string socket;    // of the agent
  std::string database;  // the metric cache's file
};

// Returns the answer to a request that gets no further, as Access::check() does. [loop]
using CheckAccess = std::function<std::optional<http::Response>(const http::Request&)>;

// All answers have the headers that forbid scripts, styles and frames from elsewhere.
http::Routes viewer_routes(ViewerSources sources, CheckAccess check);

}  // namespace koord::ui
