// SPDX-License-Identifier: Apache-2.0
// StateFeeder: refreshes the Hub's snapshot of node, pods and topology from the chosen sources (state_choice.hpp). It
// reads files, cgroups and topology on a strand of the worker pool: on a timer, when a watched file changes, and when a
// reader finds that a cgroup was removed. Sources of a cluster refresh by themselves. Functions are [loop thread]
// unless marked.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/agentd/cluster.hpp"
#include "core/agentd/services.hpp"
#include "core/agentd/state_choice.hpp"
#include "core/api/module_health.hpp"
#include "core/base/node_roots.hpp"
#include "core/base/problem_tracker.hpp"
#include "core/config/config.hpp"
#include "core/event/fd_watch.hpp"
#include "core/event/strand.hpp"
#include "core/state/cgroup_source.hpp"
#include "core/state/file_source.hpp"

namespace koord::agentd {

class StateFeeder {
 public:
  // The services must outlive this object.
  StateFeeder(const Services& services, const config::Config& config);
  ~StateFeeder();

  // Reads all sources once in this thread, so that plugins start with a known state. After that, refreshes
  // periodically.
  void start();
  void stop();

  // Keeps these pod annotations for plugins, in addition to the configured ones. [any]
  void keep_annotations(std::vector<std::string> keys);
  bool keeps_annotation(std::string_view key) const { return annotations_.keys()->contains(key); }

  // Requests a new search for pods and containers soon. [any]
  void request();

  // [any]
  api::ModuleHealth health() const;

  // nullptr: the agent uses no cluster.
  Cluster* cluster() { return cluster_.get(); }
  bool in_cluster() const { return pods_ == PodSource::kubelet || pods_ == PodSource::apiserver; }
  std::string_view pod_source() const { return name_of(pods_); }
  Duration confirm_period_of(state::Part part) const { return confirm_period(config_.state, pods_, part); }
  const KubeletDurations& kubelet_durations() const { return durations_; }

 private:
  void refresh_soon();
  void refresh();
  Result<void> refresh_sources();
  void publish_node();
  void follow_annotations(std::uint32_t changed, const state::Snapshot& snapshot);
  void find_cluster();
  void start_cluster();

  const Services& services_;
  const config::Config config_;
  StateChoice choice_;
  const PodSource pods_;
  KubeletDurations durations_;
  state::AnnotationFilter annotations_;
  std::atomic<Cluster*> running_ = nullptr;
  std::unique_ptr<Cluster> cluster_;
  std::optional<state::FileSource> files_;
  state::CgroupSource cgroups_;

  std::uint64_t subscription_ = 0;
  ProblemTracker annotation_problems_;  // [publishing thread]

  mutable std::mutex mutex_;
  std::string problem_;  // problem of the last refresh; empty: no problem
  std::string notes_;    // remarks of the last refresh on pods of a file
  ProblemTracker logged_;

  std::atomic<bool> requested_ = false;
  std::unique_ptr<event::FdWatch> file_watch_;
  std::unique_ptr<event::Timer> timer_, cluster_timer_;
  event::Strand strand_;  // must be last (destroyed first), because its tasks use the other members
};

}  // namespace koord::agentd
