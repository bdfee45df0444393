// SPDX-License-Identifier: Apache-2.0
// Functions shared by the commands of koordctl: how they are listed, their common options, and how they reach the
// agent. Each command is a file of its own.
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

// A command's line after its name, taken apart.
struct Invocation {
  po::variables_map options;
  std::string socket;
  Output output = Output::table;
  std::ostream& out;
  int cancel_fd = -1;  // a request to the agent ends when it becomes readable; -1: never

  bool has(const char* name) const { return options.count(name) > 0; }
  std::string text(const char* name) const { return options.count(name) ? options[name].as<std::string>() : ""; }
};

struct Command {
  std::string_view name;  // a word or two
  std::string_view
      arguments;  // "METRIC", "KIND [NAME]": the positional arguments; the options "argument", "argument-2"
  std::string_view summary;
  // Adds the command's own options.
  void (*describe)(po::options_description&);
  // Success is exit status 0, an error is printed and is 1.
  Result<void> (*run)(const Invocation&);
  // Needs no agent: --help does not list --socket.
  bool is_local = false;
  // "--lang LANGUAGE": options that the command needs, for its usage line.
  std::string_view needed_options = {};
  // Takes --output wide: more columns or lines.
  bool has_wide = false;
};

// Describes a command without options of its own.
inline void no_options(po::options_description&) {}

extern const Command kTop, kUi, kPods, kNode, kQuery, kPlugins, kFeatures, kCapabilities, kEvents, kDecisions, kKnobs,
    kWhy, kMode, kHooks, kInterference, kInterferenceMatrix, kManagerStatus, kPredict, kProxyStdio, kReport, kRestore,
    kSlo, kSql, kTakeoverKoordlet, kPluginBench, kPluginCheck, kPluginExplain, kPluginFuzz, kPluginInfo, kPluginNew,
    kPluginRecord, kPluginReload, kPluginRun;

// Returns the agent's answer to GET `target` if it is 200; its own error text otherwise.
Result<std::string> ask_agent(const Invocation& invocation, const std::string& target);
// The same for POST, for what may take a while.
Result<std::string> post_to_agent(const Invocation& invocation, const std::string& target);

}  // namespace koord::ctl
