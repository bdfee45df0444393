// SPDX-License-Identifier: Apache-2.0
// The resources that verdicts are made about on this node, how exactly, and why not: capabilities with the names
// "verdict.cpu", "verdict.blkio", "verdict.memory" and "verdict.cache". A plugin reports those that it judges; the
// detail begins with the method, as "exact: run segments". [any thread]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/host/plugin_status.hpp"
#include "core/service/capability_board.hpp"

namespace koord::api {

// The agent's own plugin that judges.
inline constexpr std::string_view kJudge = "advisor-interference";

// One for each resource. `reported`: the capabilities of the node. A resource that no plugin of the agent reports is
// absent, for the reason that `plugins` give.
std::vector<service::Capability> verdict_capabilities(const std::vector<service::Capability>& reported,
                                                      const std::vector<host::PluginStatus>& plugins);

// Is it one of the four names?
bool is_verdict_capability(std::string_view name);

// "exact" of "exact: run segments"; empty: the text begins with no method.
std::string_view method_of(std::string_view detail);

// Returns the judge's status; null: it is not installed.
const host::PluginStatus* judge_of(const std::vector<host::PluginStatus>& plugins);

}  // namespace koord::api
