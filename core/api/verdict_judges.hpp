// SPDX-License-Identifier: Apache-2.0
// The resources for which this node makes verdicts, the methods, and the reasons why other resources are missing. These
// facts are in capabilities with the names "verdict.cpu", "verdict.blkio", "verdict.memory" and "verdict.cache". A
// plugin reports the resources that it judges; the detail begins with the method, as in "exact: run segments". [any
// thread]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/host/plugin_status.hpp"
#include "core/service/capability_board.hpp"

namespace koord::api {

// The plugin of the agent that judges.
inline constexpr std::string_view kJudge = "advisor-interference";

// Returns one capability for each resource. `reported`: the capabilities of the node. A resource that no plugin of the
// agent reports is absent, with the reason from `plugins`.
std::vector<service::Capability> verdict_capabilities(const std::vector<service::Capability>& reported,
                                                      const std::vector<host::PluginStatus>& plugins);

// Returns whether the name is one of the four names.
bool is_verdict_capability(std::string_view name);

// Returns the method at the start of a detail: "exact" for "exact: run segments"; "" if it begins with no method.
std::string_view method_of(std::string_view detail);

// Returns the judge's status; null if it is not installed.
const host::PluginStatus* judge_of(const std::vector<host::PluginStatus>& plugins);

}  // namespace koord::api
