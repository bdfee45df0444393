// SPDX-License-Identifier: Apache-2.0
// CommandLine: the options of the agent's command line.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace koord::agentd {

struct CommandLine {
  enum class Action { run, check_config, end_plugins, restore, print_reference, version, help };

  Action action = Action::run;
  std::string config_path;             // "" = defaults only
  std::vector<std::string> overrides;  // "a.b=c"
  std::string feature_gates;           // "A=true,B=false"
};

// Parses `arguments`, which do not include the program's name.
Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

std::string usage();

}  // namespace koord::agentd
