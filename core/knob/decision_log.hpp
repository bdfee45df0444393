// SPDX-License-Identifier: Apache-2.0
// DecisionLog: who wished what for which cgroup and why, on what it was decided, what was there, and what became of it.
// A record is made when something changed, not each time that the same is proposed again. Bounded: the oldest go first.
// [any thread]
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/knob/plan_sink.hpp"

namespace koord::knob {

struct Decision {
  std::uint64_t number = 0;  // from 1, without gaps
  Time time{};
  std::string plugin, strategy;  // whose wish it is, or was
  std::string cgroup_dir, knob;  // empty: of no knob
  std::string pod_uid, pod_namespace, pod_name, container;  // whose cgroup it was then; empty: of no pod, the pod itself
  Level level = Level::qos;
  std::int32_t priority = 0;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> inputs;
  std::string before, wanted, after;  // of the knob; empty: not known
  Outcome outcome = Outcome::off;
  std::string winner;   // the plugin whose wish holds
  std::string problem;  // what the kernel said
};

class DecisionLog {
 public:
  static constexpr std::size_t kMostRecords = 1000;
  // Of the reason and of the inputs together; what is longer is cut.
  static constexpr std::size_t kMostText = 1024;

  void add(Decision decision);

  // The oldest first.
  std::vector<Decision> decisions() const;
  // How many there were since the start.
  std::map<Outcome, std::uint64_t> counts() const;

 private:
  mutable std::mutex mutex_;
  std::deque<Decision> decisions_;
  std::map<Outcome, std::uint64_t> counts_;
  std::uint64_t last_number_ = 0;
};

}  // namespace koord::knob
