// SPDX-License-Identifier: Apache-2.0
// `koordetector end-plugins`: ends processes of plugins that an agent left behind, for when no agent will start: after
// the unit's stop.
#pragma once

#include <ostream>

#include "core/agentd/command_line.hpp"

namespace koord::agentd {

// Prints how many processes it has killed. The exit status: 0, 1 without cgroups, 2 the configuration is wrong. Plugins
// of an agent that runs stay.
int end_plugins(const CommandLine& line, std::ostream& out);

}  // namespace koord::agentd
