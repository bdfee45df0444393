// SPDX-License-Identifier: Apache-2.0
// StrategyWatch: passes pod facts to the governor, and results of the governor to operators. If a strategy is switched
// off, the reverted knobs of each pod become one event of the pod, in the agent and in the cluster. Unknown names in a
// hands-off annotation and problems with the file of decisions are logged once. Functions are [loop thread] unless
// marked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/agentd/services.hpp"
#include "core/base/problem_tracker.hpp"
#include "core/event/timer.hpp"
#include "core/kube/events.hpp"

namespace koord::agentd {

class StrategyWatch {
 public:
  // The services must outlive this object.
  StrategyWatch(const Services& services, std::string node_name);
  ~StrategyWatch();

  // Must be called before the first plan.
  void start();
  void stop();

  // Writes an Event, if there is a cluster.
  void record_event(kube::EventInput input);

 private:
  struct Alive {};

  void poll();
  void check_annotations();
  void check_archive();
  void report_releases(const std::vector<knob::Release>& releases);

  const Services& services_;
  const std::string node_name_;
  std::uint64_t subscription_ = 0;
  std::unique_ptr<event::Timer> timer_;
  std::unique_ptr<kube::Events> cluster_events_;
  std::uint64_t seen_pods_ = 0;
  ProblemTracker annotation_problems_, archive_problems_;
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
};

// Returns a line for each part of a pod's hands-off annotation that has no effect. `plugins`: the ids of all plugins.
// Pure.
std::vector<std::string> hands_off_problems(const state::Snapshot& snapshot, const std::vector<std::string>& plugins);

// The text of a pod's event: the plugin that held knobs, the knobs, and why they were reverted.
struct ReleaseStory {
  knob::Subject pod;
  std::string what, why;
};
// Returns one story for each pod, plugin and reason. Pure.
std::vector<ReleaseStory> stories_of(const std::vector<knob::Release>& releases);

}  // namespace koord::agentd
