// SPDX-License-Identifier: Apache-2.0
// The running program: connects the parts, and serves until SIGTERM or SIGINT.
#pragma once

#include "core/criproxy/options.hpp"

namespace koord::criproxy {

// Returns the exit status: 0 after a requested end, 1 if it could not run.
int run(const Options& options);

}  // namespace koord::criproxy
