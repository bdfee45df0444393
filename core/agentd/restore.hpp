// SPDX-License-Identifier: Apache-2.0
// `koordetector restore`: reverts knobs straight from the journal, when no agent runs.
#pragma once

#include <ostream>

#include "core/agentd/command_line.hpp"

namespace koord::agentd {

// Prints a line for each knob that is kept. The exit status: 0 all knobs are reverted, 1 a knob could not be reverted
// or an agent runs, 2 the configuration is wrong.
int restore(const CommandLine& line, std::ostream& out);

}  // namespace koord::agentd
