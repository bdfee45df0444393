// SPDX-License-Identifier: Apache-2.0
// The command line of koord-manager, and its feature gates.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/config/feature_gates.hpp"
#include "core/config/manager_config.hpp"

namespace koord::manager {

struct CommandLine {
  enum class Action { run, check_config, print_reference, version, help };

  std::string config_path;             // "": defaults only
  std::vector<std::string> overrides;  // "a.b=c"
  std::string feature_gates;           // "A=true,B=false"
  Action action = Action::run;
};

// `arguments`: without the program's name.
Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

std::string usage();

inline constexpr std::string_view kNodeSloGate = "NodeSLO";
inline constexpr std::string_view kNodeMetricGate = "NodeMetric";
inline constexpr std::string_view kBatchGate = "BatchResources";
inline constexpr std::string_view kMirrorGate = "NodeMetricMirror";  // off by default

// Returns the feature gates of the controllers. The command line overrides the configuration.
Result<config::FeatureGates> controller_gates(const config::GateMap& of_file, const std::string& of_command_line);

}  // namespace koord::manager
