// SPDX-License-Identifier: Apache-2.0
// IsolationLevel: the layers that confine a plugin, why it lacks the others, and the capabilities that lift them. [any
// thread]
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/linux_capability.hpp"
#include "core/base/result.hpp"
#include "core/config/config.hpp"

namespace koord::host {

struct IsolationLevel {
  std::map<config::IsolationLayer, std::string> missing;  // why
  CapabilityMask capabilities = 0;                        // of its process

  bool has(config::IsolationLayer layer) const { return !missing.contains(layer); }
  // "uid+landlock+seccomp+cgroup", "seccomp+cgroup", "none", "uid+seccomp +CAP_SYS_ADMIN".
  std::string text() const;
};

// Returns those of these capabilities that amount to root: each changes files, memory, users or the kernel beyond the
// other layers. Not among them: CAP_BPF, CAP_PERFMON and CAP_DAC_READ_SEARCH, which only read, secrets included.
CapabilityMask root_capabilities(CapabilityMask capabilities);

// The level of a plugin in the agent's own process.
const IsolationLevel& isolation_in_process();

// Fails for the first layer that is wanted and missing, with the reason.
Result<void> check_minimum_isolation(const IsolationLevel& level, const std::vector<config::IsolationLayer>& wanted);

}  // namespace koord::host
