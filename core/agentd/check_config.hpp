// SPDX-License-Identifier: Apache-2.0
// Implements `koordetector check-config FILE`: checks a configuration, including gates and plugin directories.
#pragma once

#include <ostream>

#include "core/agentd/command_line.hpp"

namespace koord::agentd {

// Prints one line for each problem, or that the configuration is ok. Returns the exit status, 0 or 2.
int check_config(const CommandLine& line, std::ostream& out);

}  // namespace koord::agentd
