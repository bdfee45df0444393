// SPDX-License-Identifier: Apache-2.0
// The agent's reports about its plugins, by its socket and its log.
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
  double charged_seconds = 0;       // CPU time of the agent for requests of its process
  long restarts = 0;
};

PluginView plugin_view(const test::AgentProcess& agent, const std::string& id);
std::vector<pid_t> plugin_pids(const test::AgentProcess& agent);
// The steps of the last "attack NAME: step=RESULT …" of the log.
std::string answer_of(const test::AgentProcess& agent, std::string_view attack);
// Unix times of the samples of all series of the metric, ascending.
std::vector<double> sample_times(const test::AgentProcess& agent, const std::string& metric);
// The column ISOLATION of `koordctl plugins`; empty: there is no such plugin.
std::string level_of(const test::AgentProcess& agent, const std::string& id);
// Does a line of the log, WARN or ERROR, or a plugin's reason name this plugin?
bool names_culprit(const test::AgentProcess& agent, const std::string& id, std::string_view file);

}  // namespace koord::hostile
