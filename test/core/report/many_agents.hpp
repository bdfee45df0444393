// SPDX-License-Identifier: Apache-2.0
// ManyAgents: requests of five thousand agents to one API server, in simulated time. The reflectors and deliveries are
// those of the agent. A function that accepts or refuses requests stands for the server. A library of its own, because
// tests are compiled without optimisation.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "core/base/clock.hpp"

namespace koord::test {

inline constexpr int kNodes = 5000;
// Each agent watches its Node, NodeSLO, NodeMetric, topology, devices and pods, and the settings of the cluster.
inline constexpr int kCollections = 7;
inline constexpr int kReflectors = kNodes * kCollections;

// The requests of one second, and which nodes got something done in it.
struct Second {
  int watches = 0, lists = 0, writes = 0;
  std::set<int> served;

  int all() const { return watches + lists + writes; }
};

// An API server that is away for a while and, when it is back, knows no old versions any more.
struct SimulatedServer {
  Duration down_from = std::chrono::hours(1000), down_to = std::chrono::hours(1000);
  int capacity = 1 << 30;  // requests in a second; further ones are 429 with Retry-After: 1

  bool is_new(Duration at) const { return at >= down_to; }
  bool is_up(Duration at) const { return at < down_from || is_new(at); }
};

class ManyAgents {
 public:
  // Agents begin within the first ten minutes, like the rollout of a DaemonSet. The usage of each node always differs
  // from its last report, which makes it write the most that it may.
  ManyAgents(const SimulatedServer& server, Duration length);
  ~ManyAgents();

  using Count = int (*)(const Second&);
  int most(Duration from, Duration to, Count count) const;  // in one second
  int sum(Duration from, Duration to, Count count) const;

  int behind() const;             // collections that are not known as they are
  Duration shortest_gap() const;  // between two writes of one node

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::test
