// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/command_line.hpp"

#include <boost/program_options.hpp>
#include <sstream>

namespace koord::agentd {
namespace {

namespace po = boost::program_options;

po::options_description visible_options() {
  po::options_description options("Options");
  options.add_options()                                                                       //
      ("config,c", po::value<std::string>()->value_name("FILE"), "configuration file, YAML")  //
      ("set", po::value<std::vector<std::string>>()->value_name("KEY=VALUE")->composing(),
       "override a key of the configuration: --set store.retention=6h; may be repeated")  //
      ("feature-gates", po::value<std::string>()->value_name("A=true,B=false"),
       "switch features on or off, over the file's featureGates")                                        //
      ("print-config-reference", "print every configuration key with its default and meaning, as YAML")  //
      ("version", "print the version")                                                                   //
      ("help,h", "print this help");
  return options;
}

po::options_description all_options() {
  po::options_description options = visible_options();
  options.add_options()("command", po::value<std::vector<std::string>>());
  return options;
}

template <class T>
T value_of(const po::variables_map& options, const char* name) {
  return options.count(name) ? options[name].as<T>() : T{};
}

Result<CommandLine> interpret(const po::variables_map& options) {
  CommandLine line;
  line.config_path = value_of<std::string>(options, "config");
  line.overrides = value_of<std::vector<std::string>>(options, "set");
  line.feature_gates = value_of<std::string>(options, "feature-gates");
  if (options.count("help")) line.action = CommandLine::Action::help;
  if (options.count("version")) line.action = CommandLine::Action::version;
  if (options.count("print-config-reference")) line.action = CommandLine::Action::print_reference;

  auto command = value_of<std::vector<std::string>>(options, "command");
  if (command.empty()) return line;
  if (command[0] == "restore") {
    if (command.size() != 1) return invalid("restore takes no argument, only options: --config, --set");
    line.action = CommandLine::Action::restore;
    return line;
  }
  if (command[0] == "end-plugins") {
    if (command.size() != 1) return invalid("end-plugins takes no argument, only options: --config, --set");
    line.action = CommandLine::Action::end_plugins;
    return line;
  }
  if (command[0] != "check-config")
    return invalid("unknown command '" + command[0] + "', expected check-config, end-plugins or restore");
  if (command.size() != 2) return invalid("check-config takes one argument, the file to check");
  line.action = CommandLine::Action::check_config;
  line.config_path = command[1];
  return line;
}

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  po::positional_options_description positional;
  positional.add("command", -1);
  po::variables_map options;
  try {
    using namespace po::command_line_style;
    po::store(po::command_line_parser(arguments)
                  .options(all_options())
                  .positional(positional)
                  .style(unix_style & ~allow_guessing)
                  .run(),
              options);
  } catch (const po::error& error) {
    return invalid(error.what());
  }
  return interpret(options);
}

std::string usage() {
  std::ostringstream text;
  text << "Usage: koordetector [options]\n"
          "       koordetector check-config FILE\n"
          "       koordetector end-plugins [options]\n"
          "       koordetector restore [options]\n\n"
          "The node agent: loads plugins, measures the node and its pods, serves metrics. SIGHUP reads the\n"
          "configuration again, SIGTERM ends it. restore reverts all knobs to their original values when no\n"
          "agent runs. end-plugins kills the processes of plugins left behind by an agent that has ended.\n\n"
       << visible_options();
  return text.str();
}

}  // namespace koord::agentd
