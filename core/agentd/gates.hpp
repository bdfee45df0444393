// SPDX-License-Identifier: Apache-2.0
// Applies feature gates from their three origins: the plugins' manifests, the file, the command line.
#pragma once

#include <string>
#include <vector>

#include "core/config/config.hpp"
#include "core/config/feature_gates.hpp"

namespace koord::agentd {

// Applies the gates of the file, then the gates of --feature-gates. Each gate is applied separately, so an unknown
// gate, for example of a plugin that cannot be read, does not prevent the other gates. Returns a line for each gate
// that could not be applied.
std::vector<std::string> apply_gates(const config::GateMap& of_file, const std::string& of_command_line,
                                     config::FeatureGates& gates);

}  // namespace koord::agentd
