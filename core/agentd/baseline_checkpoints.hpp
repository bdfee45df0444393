// SPDX-License-Identifier: Apache-2.0
// BaselineCheckpoints: shares the baselines of workloads with the cluster as InterferenceMetricCheckpoint objects.
// Reads the object of each workload that is new on this node, and passes it to the plugin that judges interference.
// Writes the object of a workload that this node has observed for an hour if the object is new, if this node wrote the
// object and the baseline has changed materially, or if no node has written the object for a day. [loop thread]
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/agentd/services.hpp"
#include "core/base/problem_tracker.hpp"
#include "core/event/timer.hpp"
#include "core/kube/update.hpp"
#include "core/state/baseline_checkpoint.hpp"

namespace koord::agentd {

enum class CheckpointUse { none, read, write };  // write: reads, too

// Reads the use from the configuration (JSON) of the plugin that judges interference. Returns `none` if the
// configuration cannot be read.
CheckpointUse checkpoint_use(std::string_view plugin_config);

class BaselineCheckpoints {
 public:
  struct Limits {
    Duration poll = std::chrono::seconds(10);
    Duration repeat = std::chrono::minutes(10);   // between two writes of one object, and after a failure
    Duration abandoned = std::chrono::hours(24);  // after this time a different node may write the object
    std::size_t windows = 3600;                   // the minimum number of windows of a baseline that is written
    std::size_t workloads = 500;                  // the maximum number of objects that are read
    std::size_t objects = 100;                    // the maximum number of objects that this node writes
  };

  // The services must outlive this object.
  BaselineCheckpoints(const Services& services, std::string node, std::function<CheckpointUse()> use)
      : BaselineCheckpoints(services, std::move(node), std::move(use), Limits{}) {}
  BaselineCheckpoints(const Services& services, std::string node, std::function<CheckpointUse()> use,
                      const Limits& limits);

  void start();
  void stop();

 private:
  // A workload's baselines, as the plugin stores them.
  struct Known {
    analysis::SavedBaseline cpu;
    std::optional<analysis::SavedBaseline> memory;
  };
  struct Written {
    state::BaselineCheckpoint checkpoint;
    Time at{};
    bool is_ours = false;  // this node writes the object
  };

  void poll();
  void read_next(kube::Client& client);
  // Returns false if the object must be requested again.
  bool take(const std::string& workload, const std::string& in_cluster, const Result<kube::Reply>& reply);
  void offer(const std::string& workload, state::BaselineCheckpoint checkpoint);
  void write_next(kube::Client& client);
  bool write(kube::Client& client, const std::string& in_cluster, Known known);
  void finish(const state::BaselineCheckpoint& checkpoint, bool is_ours, const Result<kube::Written>& written);
  std::vector<analysis::SavedBaseline> stored(const char* key, analysis::BaselineOf resource) const;
  void put(const char* key, std::vector<analysis::SavedBaseline> baselines, analysis::BaselineOf resource);
  std::map<std::string, Known> known_baselines() const;
  void log_problem(const std::string& problem);

  const Services& services_;
  const std::string node_;
  const std::function<CheckpointUse()> use_;
  const Limits limits_;
  std::map<std::string, std::string> workloads_;  // the result of cluster_workloads()
  std::uint64_t seen_pods_ = 0;
  std::map<std::string, Time> asked_;       // workloads, and the time of the request
  std::map<std::string, Known> offered_;    // baselines that were offered to the plugin
  std::map<std::string, Written> written_;  // key: the workload's name in the cluster
  ProblemTracker logged_;
  kube::Client::PendingPtr reading_, writing_;  // null: no request is in progress
  std::unique_ptr<event::Timer> timer_;
};

}  // namespace koord::agentd
