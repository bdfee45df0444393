// SPDX-License-Identifier: Apache-2.0
// Implements `koordetector end-plugins`: ends processes of plugins that an agent left behind. For use after the stop of
// the unit, when no agent will start.
#pragma once

#include <ostream>

#include "core/agentd/command_line.hpp"

namespace koord::agentd {

// Prints how many processes it has killed. Returns the exit status: 0, 1 if the node has no cgroup tree, 2 if the
// configuration is wrong. Plugins of a running agent are not ended.
int end_plugins(const CommandLine& line, std::ostream& out);

}  // namespace koord::agentd
