// SPDX-License-Identifier: Apache-2.0
// Layers: the confinement that children can have on this node, found out once at start, and how each child is launched.
// A child enters every layer that is here or does not start, so its confinement is known before. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/child/landlock.hpp"
#include "core/child/launch_spec.hpp"
#include "core/child/plugin_uids.hpp"
#include "core/host/isolation_level.hpp"
#include "core/host/runner.hpp"
#include "core/service/capability_board.hpp"

namespace koord::child {

struct Launch {
  LaunchSpec spec;
  host::IsolationLevel level;  // without the cgroup
  std::string problem;  // the reason why a part is missing that every plugin should have; empty: no part is missing
};

class Layers {
 public:
  struct Options {
    std::string state_directory;  // of all plugins; empty: none has one
    std::uint32_t first_uid = 0, uids = 0;
    std::vector<std::string> readable;                  // the node's roots
    unsigned newest_landlock_abi = kNewestLandlockAbi;  // for tests: the ABI of an older kernel; 0: none
  };
  explicit Layers(Options options);

  std::vector<service::Capability> capabilities() const;
  // A plugin of a third party gets all layers; the agent's own one, which runs in a process because the configuration
  // says so, keeps the agent's user and files.
  Result<Launch> launch(const std::string& plugin_id, const std::string& path, const host::RunnerLimits& limits);
  // The bytes on disk of the plugin's state directory and of files without a name beside it that its processes have
  // open, more than `enough` if there is more; 0: it has no such directory. No `processes`: all of its user. [any
  // thread]
  Result<std::uint64_t> state_size(const std::string& plugin_id, const std::vector<std::int32_t>& processes,
                                   std::uint64_t enough) const;
  // The free bytes of the file system with the state directories; nullopt: unknown. [any thread]
  std::optional<std::uint64_t> state_space() const;

 private:
  const Options options_;
  PluginUids uids_;
  std::string uid_problem_;  // empty: plugins have users of their own
  Result<unsigned> landlock_;
};

// Without any Layers: a filter of system calls and no other.
Launch launch_without_layers(const host::RunnerLimits& limits);

}  // namespace koord::child
