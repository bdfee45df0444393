// SPDX-License-Identifier: Apache-2.0
// ConfinedRun: the confinement of `koordctl plugin run --confined`. It is the same as for a third-party plugin in an
// agent, but without a cgroup: a separate user, Landlock, the system call filter, and the grants of
// plugins.settings.ID, including the grants for files that the host reads and for endpoints that it scrapes. [one
// thread]
#pragma once

#include <memory>
#include <string>

#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "core/child/layers.hpp"
#include "core/config/config.hpp"
#include "core/host/runner.hpp"
#include "core/service/rights.hpp"

namespace koord::ctl {

class ConfinedRun {
 public:
  // Fails if this process is not root. Creates a state directory below the directory for temporary files.
  static Result<std::unique_ptr<ConfinedRun>> make(const config::Config& config, const std::string& plugin_id,
                                                   const NodeRoots& roots);
  ~ConfinedRun();  // removes the state directory
  ConfinedRun(const ConfinedRun&) = delete;
  ConfinedRun& operator=(const ConfinedRun&) = delete;

  child::Layers& layers() { return layers_; }
  const host::RunnerLimits& limits() const { return limits_; }
  const service::Rights& rights() const { return rights_; }

 private:
  ConfinedRun(std::string directory, const config::Config& config, const std::string& plugin_id,
              const NodeRoots& roots);

  const std::string directory_;
  child::Layers layers_;
  const host::RunnerLimits limits_;
  const service::Rights rights_;
};

// Returns a text about a run without ConfinedRun: the plugin's rights, and for a process of its own how to confine it.
std::string unconfined_line(bool in_process);

// Returns "confined by uid+landlock+seccomp; not by cgroup: …".
std::string confinement_line(const host::IsolationLevel& level);

}  // namespace koord::ctl
