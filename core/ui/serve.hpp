// SPDX-License-Identifier: Apache-2.0
// Serves the page of `koordctl ui` on loopback until SIGINT or SIGTERM.
#pragma once

#include <ostream>
#include <string>

#include "core/base/result.hpp"
#include "core/ui/source.hpp"

namespace koord::ui {

// Fails unless `address` ("127.0.0.1:9317", "[::1]:0", "localhost:0") is a loopback address.
Result<void> check_loopback(const std::string& address);

// Serves the page. Prints a link with a token to `out`, and a new link after each use of one. Returns after a signal,
// which also closes `source`. Requests `first` from the source before it prints a link, and fails without a response;
// "": requests nothing.
Result<void> serve(const std::string& address, Source& source, std::ostream& out, const std::string& first = {});

}  // namespace koord::ui
