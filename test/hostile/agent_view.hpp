// SPDX-License-Identifier: Apache-2.0
// The agent's reports about its plugins, from its socket and its log.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "test/support/agent_process.hpp"

namespace koord::hostile {

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

struct PluginView {
  std::string state, reason, text;  // text: the whole JSON object
  double charged_seconds = 0;       // CPU time that the agent spent on requests of the plugin's process
  long restarts = 0;
};

PluginView plugin_view(const test::AgentProcess& agent, const std::string& id);
std::vector<pid_t> plugin_pids(const test::AgentProcess& agent);
// Returns the steps of the last line "attack NAME: step=RESULT …" in the log.
std::string answer_of(const test::AgentProcess& agent, std::string_view attack);
// Returns the Unix times of the samples of all series of the metric, in ascending order.
std::vector<double> sample_times(const test::AgentProcess& agent, const std::string& metric);
// Returns the column ISOLATION of `koordctl plugins`; empty if the plugin is not listed.
std::string level_of(const test::AgentProcess& agent, const std::string& id);
// Returns whether a WARN or ERROR line of the log, or the reason of a plugin's state, names this plugin.
bool names_culprit(const test::AgentProcess& agent, const std::string& id, std::string_view file);

}  // namespace koord::hostile
