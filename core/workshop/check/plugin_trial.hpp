// SPDX-License-Identifier: Apache-2.0
// PluginTrial: the environment of a plugin in one trial: a host in memory, on this machine's trees unless others are
// given, a clock that is moved, pods, the faults to inject, and the violations seen. One thread at a time, except for
// the calls of the plugin.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/manual_clock.hpp"
#include "core/workshop/check/watched_host.hpp"
#include "core/workshop/memory_host.hpp"

namespace koord::check {

class PluginTrial {
 public:
  explicit PluginTrial(const NodeRoots& roots = {});

  ManualClock& clock() { return clock_; }
  workshop::MemoryHost& memory_host() { return memory_host_; }
  FaultInjection& faults() { return faults_; }
  Seen& seen() { return seen_; }
  const Seen& seen() const { return seen_; }

  void publish_pods(std::size_t count);
  void publish_pods(std::vector<state::Pod> pods);

  // A host for one more instance. It stays as long as the trial.
  WatchedHost& add_host(const std::string& plugin_id, const std::string& kind, const std::string& config_json);

 private:
  ManualClock clock_;
  workshop::MemoryHost memory_host_;
  FaultInjection faults_;
  Seen seen_;
  std::vector<std::unique_ptr<WatchedHost>> hosts_;
};

}  // namespace koord::check
