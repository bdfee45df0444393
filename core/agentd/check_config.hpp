// SPDX-License-Identifier: Apache-2.0
// `koordetector check-config FILE`: is this configuration right, gates and plugin directories included?
#pragma once

#include <ostream>

#include "core/agentd/command_line.hpp"

namespace koord::agentd {

// Prints what is wrong, a line each, or that all is well; returns the exit status, 0 or 2.
int check_config(const CommandLine& line, std::ostream& out);

}  // namespace koord::agentd
