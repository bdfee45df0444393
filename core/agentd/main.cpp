// SPDX-License-Identifier: Apache-2.0
// koordetector: the node agent. Exit status: 0 ended as asked, 1 could not run, 2 the command line or the configuration
// is wrong.
#include <iostream>

#include "core/agentd/agent.hpp"
#include "core/agentd/check_config.hpp"
#include "core/agentd/command_line.hpp"
#include "core/agentd/end_plugins.hpp"
#include "core/agentd/process.hpp"
#include "core/agentd/restore.hpp"
#include "core/base/version.hpp"
#include "core/config/load.hpp"
#include "core/config/reference.hpp"
#include "core/host/crash_line.hpp"
#include "core/load/file_content.hpp"

namespace {

using koord::agentd::Agent;
using koord::agentd::CommandLine;

int complain(const koord::Error& error, int status) {
  std::cerr << "koordetector: " << error.message() << "\n";
  return status;
}

int run_agent(const CommandLine& line) {
  auto config = koord::config::load(line.config_path, line.overrides);
  if (!config) return complain(config.error(), 2);
  if (auto keys = koord::load::read_trusted_keys(config->plugins.trusted_keys); !keys) return complain(keys.error(), 2);
  koord::agentd::prepare_process();
  koord::host::install_crash_line();
  auto agent = Agent::make(std::move(config).value(), line);
  if (!agent) return complain(agent.error(), 1);
  return (*agent)->run();
}

}  // namespace

int main(int argc, char** argv) {
  auto line = koord::agentd::parse_command_line({argv + 1, argv + argc});
  if (!line) return complain(line.error(), 2);
  switch (line->action) {
    case CommandLine::Action::help:
      std::cout << koord::agentd::usage();
      return 0;
    case CommandLine::Action::version:
      std::cout << "koordetector " << koord::kVersion << "\n";
      return 0;
    case CommandLine::Action::print_reference:
      std::cout << koord::config::reference_yaml();
      return 0;
    case CommandLine::Action::check_config:
      return koord::agentd::check_config(*line, std::cout);
    case CommandLine::Action::end_plugins:
      return koord::agentd::end_plugins(*line, std::cout);
    case CommandLine::Action::restore:
      return koord::agentd::restore(*line, std::cout);
    case CommandLine::Action::run:
      return run_agent(*line);
  }
}
