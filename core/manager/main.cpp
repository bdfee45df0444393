// SPDX-License-Identifier: Apache-2.0
// koord-manager: runs the controllers of a cluster. Exit status: 0 stopped on request, 1 could not run, 2 invalid
// command line or configuration.
#include <iostream>

#include "core/base/version.hpp"
#include "core/manager/options.hpp"
#include "core/manager/program.hpp"
#include "core/manager/replica_setup.hpp"

namespace {

int refuse(const koord::Error& error) {
  std::cerr << "koord-manager: " << error.message() << "\n";
  return 2;
}

int configured(const koord::manager::CommandLine& line) {
  const auto config = koord::config::load_manager(line.config_path, line.overrides);
  if (!config) return refuse(config.error());
  const auto gates = koord::manager::controller_gates(config->feature_gates, line.feature_gates);
  if (!gates) return refuse(gates.error());
  if (line.action == koord::manager::CommandLine::Action::check_config) {
    if (const auto checked = koord::manager::check_setup(*config, koord::manager::Environment::of_process()); !checked)
      return refuse(checked.error());
    std::cout << "the configuration is valid\n";
    return 0;
  }
  return koord::manager::run(*config, *gates);
}

}  // namespace

int main(int argc, char** argv) {
  using Action = koord::manager::CommandLine::Action;
  const auto line = koord::manager::parse_command_line({argv + 1, argv + argc});
  if (!line) return refuse(line.error());
  switch (line->action) {
    case Action::help:
      std::cout << koord::manager::usage();
      return 0;
    case Action::version:
      std::cout << "koord-manager " << koord::kVersion << "\n";
      return 0;
    case Action::print_reference:
      std::cout << koord::config::manager_reference_yaml();
      return 0;
    case Action::check_config:
    case Action::run:
      return configured(*line);
  }
}
