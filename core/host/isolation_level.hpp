// SPDX-License-Identifier: Apache-2.0
// IsolationLevel: the layers that confine a plugin, and why it lacks the others. [any thread]
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/config/config.hpp"

namespace koord::host {

struct IsolationLevel {
  std::map<config::IsolationLayer, std::string> missing;  // why

  bool has(config::IsolationLayer layer) const { return !missing.contains(layer); }
  // "uid+landlock+seccomp+cgroup", "seccomp+cgroup", "none".
  std::string text() const;
};

// The level of a plugin in the agent's own process.
const IsolationLevel& isolation_in_process();

// Fails for the first layer that is wanted and missing, with the reason.
Result<void> check_minimum_isolation(const IsolationLevel& level, const std::vector<config::IsolationLayer>& wanted);

}  // namespace koord::host
