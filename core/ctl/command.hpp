// SPDX-License-Identifier: Apache-2.0
// Shared functions of koordctl's commands: their list, their common options, and requests to the agent. Each command
// has its own file.
#pragma once

#include <boost/program_options.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord::ctl {

namespace po = boost::program_options;

enum class Output { table, wide, json };

// The parsed command line after the command's name.
struct Invocation {
  po::variables_map options;
  std::string socket;
  Output output = Output::table;
  std::ostream& out;
  int cancel_fd = -1;  // cancels a request to the agent when it becomes readable; -1: never

  bool has(const char* name) const { return options.count(name) > 0; }
  std::string text(const char* name) const { return options.count(name) ? options[name].as<std::string>() : ""; }
};

struct Command {
  std::string_view name;  // one or two words
  std::string_view
      arguments;  // positional arguments, such as "KIND [NAME]"; stored as the options "argument" and "argument-2"
  std::string_view summary;
  // Adds the command's own options.
  void (*describe)(po::options_description&);
  // Runs the command. Success gives exit status 0. An error is printed and gives exit status 1.
  Result<void> (*run)(const Invocation&);
  // The command needs no agent, so --help does not list --socket.
  bool is_local = false;
  // Required options for the usage line, such as "--lang LANGUAGE".
  std::string_view needed_options = {};
  // Accepts --output wide, which shows more columns or lines.
  bool has_wide = false;
};

// For a command without own options.
inline void no_options(po::options_description&) {}

extern const Command kTop, kUi, kPods, kNode, kQuery, kPlugins, kFeatures, kCapabilities, kEvents, kDecisions, kKnobs,
    kWhy, kMode, kHooks, kInterference, kInterferenceMatrix, kManagerStatus, kPredict, kProxyStdio, kReport, kRestore,
    kSlo, kSql, kTakeoverKoordlet, kPluginBench, kPluginCheck, kPluginExplain, kPluginFuzz, kPluginInfo, kPluginNew,
    kPluginRecord, kPluginReload, kPluginRun;

// Returns the agent's response to GET `target` if its status is 200; otherwise fails with its error text.
Result<std::string> ask_agent(const Invocation& invocation, const std::string& target);
// Returns the response to POST `target` in the same way. Waits up to 40 s, because such a request may take a while.
Result<std::string> post_to_agent(const Invocation& invocation, const std::string& target);

}  // namespace koord::ctl
