// SPDX-License-Identifier: Apache-2.0
#include "core/manager/options.hpp"

#include <boost/program_options.hpp>
#include <sstream>

namespace koord::manager {
namespace {

namespace po = boost::program_options;

po::options_description describe(CommandLine& line) {
  po::options_description options("Options");
  options.add_options()                                                                           //
      ("config,c", po::value(&line.config_path)->value_name("FILE"), "configuration file, YAML")  //
      ("set", po::value(&line.overrides)->value_name("KEY=VALUE")->composing(),
       "override a key of the configuration: --set lease.duration=15s; may be repeated")  //
      ("feature-gates", po::value(&line.feature_gates)->value_name("A=true,B=false"),
       "switch controllers on or off, over the file's featureGates")                                     //
      ("check-config", "check the configuration and end")                                                //
      ("print-config-reference", "print every configuration key with its default and meaning, as YAML")  //
      ("version", "print the version")                                                                   //
      ("help,h", "print this help");
  return options;
}

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  po::variables_map given;
  try {
    using namespace po::command_line_style;
    po::command_line_parser parser(arguments);
    const po::options_description options = describe(line);
    const po::parsed_options parsed = parser.options(options).style(unix_style & ~allow_guessing).run();
    for (const po::option& option : parsed.options)
      if (option.position_key >= 0)
        return invalid("unexpected argument '" + option.value.front() + "', expected only options; see --help");
    po::store(parsed, given);
    po::notify(given);
  } catch (const po::error& error) {
    return invalid(error.what());
  }
  if (given.count("check-config")) line.action = CommandLine::Action::check_config;
  if (given.count("print-config-reference")) line.action = CommandLine::Action::print_reference;
  if (given.count("version")) line.action = CommandLine::Action::version;
  if (given.count("help")) line.action = CommandLine::Action::help;
  return line;
}

std::string usage() {
  CommandLine line;
  std::ostringstream text;
  text
      << "Usage: koord-manager [options]\n\n"
         "The cluster's part of koordetector, for clusters without Koordinator's manager: writes a NodeSLO and a\n"
         "NodeMetric for each node, and batch resources on the nodes. One of its replicas leads, by a Lease.\n"
         "SIGTERM ends it and gives the Lease up.\n\n"
      << describe(line)
      << "\nControllers (feature gates, all on by default): NodeSLO, NodeMetric, BatchResources. Switch off what\n"
         "another program does in the cluster. Off by default: NodeMetricMirror, which writes the reports that come to\n"
         "serve.address to NodeMetrics of slo.koordinator.sh.\n";
  return text.str();
}

Result<config::FeatureGates> controller_gates(const config::GateMap& of_file, const std::string& of_command_line) {
  config::FeatureGates gates;
  for (std::string_view name : {kNodeSloGate, kNodeMetricGate, kBatchGate})
    TRY(gates.add({.name = std::string(name), .stage = config::Stage::beta, .default_on = true, .locked = false}));
  TRY(gates.add(
      {.name = std::string(kMirrorGate), .stage = config::Stage::alpha, .default_on = false, .locked = false}));
  TRY(gates.apply(of_file, "featureGates"));
  TRY(gates.apply(of_command_line, "--feature-gates"));
  return gates;
}

}  // namespace koord::manager
