// SPDX-License-Identifier: Apache-2.0
// The running program: connects the parts, serves until SIGTERM or SIGINT.
#pragma once

#include "core/criproxy/options.hpp"

namespace koord::criproxy {

// Returns the exit status: 0 ended as asked, 1 could not run.
int run(const Options& options);

}  // namespace koord::criproxy
