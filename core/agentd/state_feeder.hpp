// SPDX-License-Identifier: Apache-2.0
// StateFeeder: keeps the Hub's snapshot of node, pods and topology fresh from the configured sources. Refreshes run on
// a strand of the worker pool, one at a time: on a timer, when a watched file changes, and when somebody found a cgroup
// gone. Functions are [loop thread] unless marked.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/agentd/module_health.hpp"
#include "core/base/clock.hpp"
#include "core/base/node_roots.hpp"
#include "core/cgroup/layout.hpp"
#include "core/config/config.hpp"
#include "core/event/fd_watch.hpp"
#include "core/event/loop.hpp"
#include "core/event/strand.hpp"
#include "core/state/cgroup_source.hpp"
#include "core/state/file_source.hpp"
#include "core/state/hub.hpp"

namespace koord::agentd {

class StateFeeder {
 public:
  struct Parts {
    event::Loop& loop;
    event::WorkerPool& workers;
    state::Hub& hub;
    cgroup::Layout layout;
    NodeRoots roots;
    std::string node_name;
  };

  StateFeeder(Parts parts, const config::StateSettings& settings);

  // Reads all sources once, in this thread, so that plugins begin with a known state; then keeps refreshing.
  void start();
  void stop();

  // Refresh soon. [any]
  void request();

  // [any]
  ModuleHealth health() const;

 private:
  void refresh();
  Result<void> refresh_sources();
  void publish_node();

  Parts parts_;
  Duration period_;
  std::optional<state::FileSource> files_;
  state::CgroupSource cgroups_;

  mutable std::mutex mutex_;
  std::string problem_;  // of the last refresh; empty: all was well

  std::atomic<bool> requested_ = false;
  std::unique_ptr<event::FdWatch> file_watch_;
  std::unique_ptr<event::Timer> timer_;
  event::Strand strand_;  // last: it ends first, with all that uses the rest
};

}  // namespace koord::agentd
