// SPDX-License-Identifier: Apache-2.0
// ManyAgents: simulates the requests of five thousand agents to one API server over time, with the agent's real
// reflectors and deliveries. A function that accepts or refuses requests replaces the server. This is a separate
// library, because tests are compiled without optimisation.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "core/base/clock.hpp"

namespace koord::test {

inline constexpr int kNodes = 5000;
// Each agent watches its Node, NodeSLO, NodeMetric, topology, devices and pods, and the cluster's settings.
inline constexpr int kCollections = 7;
inline constexpr int kReflectors = kNodes * kCollections;

// The requests of one second, and the nodes with a successful request in it.
struct Second {
  int watches = 0, lists = 0, writes = 0;
  std::set<int> served;

  int all() const { return watches + lists + writes; }
};

// An API server that is down for some time. When it is up again, it has no old versions.
struct SimulatedServer {
  Duration down_from = std::chrono::hours(1000), down_to = std::chrono::hours(1000);
  int capacity = 1 << 30;  // requests per second; further requests get 429 with Retry-After: 1

  bool is_new(Duration at) const { return at >= down_to; }
  bool is_up(Duration at) const { return at < down_from || is_new(at); }
};

class ManyAgents {
 public:
  // Agents start within the first ten minutes, as in the rollout of a DaemonSet. The usage of each node always differs
  // from its last report, so it writes as often as it may.
  ManyAgents(const SimulatedServer& server, Duration length);
  ~ManyAgents();

  using Count = int (*)(const Second&);
  int most(Duration from, Duration to, Count count) const;  // maximum number of requests in one second
  int sum(Duration from, Duration to, Count count) const;

  int behind() const;             // number of collections with outdated state
  Duration shortest_gap() const;  // between two writes of one node

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::test
