// SPDX-License-Identifier: Apache-2.0
// CrowdedNode: a node short of a resource, by figures in fake trees: five pods that use and request the limit of their
// class, the API server and the kubelet that know them, and an agent with the strategies that evict. Evicted pods are
// Terminating in the API server and stay.
//
//   CrowdedNode node;
//   node.set_slo(R"("memoryEvictThresholdPercent": 75)");
//   node.configure("BEMemoryEvict", "enforce");
//   REQUIRE(node.start());
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/agent_process.hpp"
#include "test/support/fake_node.hpp"
#include "test/support/test_cluster.hpp"

namespace koord::test {

struct CrowdedPod {
  std::string name;
  std::string tier;  // "batch" or "mid": what it requests 2 cores and 2 GiB of; "": of the node's own
  int priority = 0;
  std::string labels = {}, annotations = {};  // members of JSON objects
  std::int64_t used_mib = 1024;
  double used_cores = 0;
};

class CrowdedNode {
 public:
  static constexpr int kCpus = 16, kGiB = 32;

  CrowdedNode() : CrowdedNode(five_pods()) {}
  explicit CrowdedNode(std::vector<CrowdedPod> pods);

  // Best-effort "closed", "low" and "high", of which the first goes for no feature; "mid"; and "service".
  static std::vector<CrowdedPod> five_pods();

  // ---- what the node is short of.
  void set_memory(int used_percent);
  // All best-effort pods together; less than a core of it counts as used.
  void limit_best_effort(int milli);
  // Resources of Koordinator's tiers: {"kubernetes.io/batch-cpu": "5000"}.
  void set_allocatable(const std::string& resources);
  // Members of resourceUsedThresholdWithBE besides "enable".
  void set_slo(const std::string& fields);
  // Lets counters of the node and its pods run on, as time does.
  void let_run(double node_cores);

  // ---- the cluster.
  void put_budget(const std::string& pod, int allowed);
  // How the kubelet lists it from now on.
  void set_terminating(const std::string& pod);
  // All pods are there as at first. `uids`: what the API server has behind "uid-NAME"; others are new pods of the same
  // names.
  void put_back(const std::string& uids = {});

  // ---- the agent. `gates`: "BEMemoryEvict: true"; `extra`: YAML on the outermost level.
  void configure(const std::string& gates, const std::string& mode, const std::string& extra = {});
  bool start() { return agent->start(); }

  // ---- results.
  std::size_t asked();               // how often for an eviction
  std::vector<std::string> going();  // as the API server has it
  double counted(const std::string& feature, const std::string& result) const;
  bool has_event(const std::string& about, const std::string& reason, const std::string& part = {});
  std::string ctl(std::vector<std::string> arguments) const { return agent->ctl(std::move(arguments)).output; }
  // Lets the kubelet list its pods this many times more, so that whatever would be done has been.
  void wait_for_lists(int count);

  TestCluster cluster;
  FakeNode tree;
  std::optional<AgentProcess> agent;

 private:
  std::string object_of(const CrowdedPod& pod) const;
  void update_kubelet();
  void write_pods();

  const std::vector<CrowdedPod> pods_;
  std::vector<std::string> terminating_;
  double ran_seconds_ = 0, node_cpu_seconds_ = 0;
  std::optional<std::chrono::steady_clock::time_point> ran_at_;
  std::string best_effort_max_ = "max 100000\n";
};

}  // namespace koord::test
