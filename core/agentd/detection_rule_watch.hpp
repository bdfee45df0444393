// SPDX-License-Identifier: Apache-2.0
// DetectionRuleWatch: watches the cluster's InterferenceDetectionRule objects while the plugin that judges interference
// is on. Keeps the rules for this node in the store, for koord.kv/1, so they also apply while the API server is
// unavailable. [loop thread]
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/agentd/services.hpp"
#include "core/base/problem_tracker.hpp"
#include "core/event/timer.hpp"
#include "core/kube/list_watch.hpp"
#include "core/state/detection_rules.hpp"

namespace koord::agentd {

class DetectionRuleWatch {
 public:
  // The services must outlive this object.
  explicit DetectionRuleWatch(const Services& services) : services_(services) {}

  // `has_cluster`: false if the agent uses no cluster. In that case, rules of an earlier cluster are removed.
  void start(bool has_cluster);
  void stop();

 private:
  void poll();
  void begin(kube::Client& client);
  void take(const kube::Objects& objects);
  void keep();
  void report();

  const Services& services_;
  state::DetectionRules rules_;
  std::string kept_;  // content of the key in the store
  state::StringMap labels_;
  bool is_known_ = false;
  std::vector<std::string> problems_;
  ProblemTracker logged_;
  std::unique_ptr<kube::ListWatch> watch_;
  std::unique_ptr<event::Timer> timer_;
};

}  // namespace koord::agentd
