// SPDX-License-Identifier: Apache-2.0
// `koordetector restore`: gives knobs back what they had, straight from the journal, where no agent runs any more.
#pragma once

#include <ostream>

#include "core/agentd/command_line.hpp"

namespace koord::agentd {

// Prints a line for each knob that is kept. The exit status: 0 nothing of ours is left, 1 something could not be given back or an
// agent runs, 2 the configuration is wrong.
int restore(const CommandLine& line, std::ostream& out);

}  // namespace koord::agentd
