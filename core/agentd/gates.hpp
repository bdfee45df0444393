// SPDX-License-Identifier: Apache-2.0
// Feature gates from their three origins: the plugins' manifests, the file, the command line.
#pragma once

#include <string>
#include <vector>

#include "core/config/config.hpp"
#include "core/config/feature_gates.hpp"

namespace koord::agentd {

// Applies the file's gates, then those of --feature-gates, each name by itself: the gate of an unreadable plugin is
// unknown and does not keep the others from being set. Returns a line for each gate that could not be applied.
std::vector<std::string> apply_gates(const config::GateMap& of_file, const std::string& of_command_line,
                                     config::FeatureGates& gates);

}  // namespace koord::agentd
