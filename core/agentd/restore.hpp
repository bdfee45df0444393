// SPDX-License-Identifier: Apache-2.0
// Implements `koordetector restore`: reverts knobs directly from the journal when no agent runs.
#pragma once

#include <ostream>

#include "core/agentd/command_line.hpp"

namespace koord::agentd {

// Prints a line for each journaled knob. Returns the exit status: 0 if all knobs are reverted, 1 if a knob could not be
// reverted or an agent runs, 2 if the configuration is wrong.
int restore(const CommandLine& line, std::ostream& out);

}  // namespace koord::agentd
