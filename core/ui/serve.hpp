// SPDX-License-Identifier: Apache-2.0
// Serves the page of `koordctl ui` on loopback until SIGINT or SIGTERM.
#pragma once

#include <ostream>
#include <string>

#include "core/base/result.hpp"
#include "core/ui/source.hpp"

namespace koord::ui {

// Fails unless `address` ("127.0.0.1:9317", "[::1]:0", "localhost:0") is one of loopback.
Result<void> check_loopback(const std::string& address);

// Prints a link with a token to `out`, and a new one whenever a link was used. Returns when a signal ends it, which
// also closes `source`. Asks for `first` before there is a link, and fails if no answer comes; "": asks for nothing.
Result<void> serve(const std::string& address, Source& source, std::ostream& out, const std::string& first = {});

}  // namespace koord::ui
