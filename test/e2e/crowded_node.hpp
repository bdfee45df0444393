// SPDX-License-Identifier: Apache-2.0
// CrowdedNode: a node that is short of a resource, with numbers in fake trees: five pods that use and request the limit
// of their class, an API server and a kubelet with these pods, and an agent with the strategies that evict. Evicted
// pods become Terminating in the API server and stay there.
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
  std::string tier;  // "batch" or "mid": requests 2 cores and 2 GiB of that tier; "": of the node's own resources
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

  // Returns best-effort "closed", which no feature may evict, "low" and "high"; "mid"; and "service".
  static std::vector<CrowdedPod> five_pods();

  // ---- the shortage.
  void set_memory(int used_percent);
  // Sets a limit for all best-effort pods together. They use less than one core of it.
  void limit_best_effort(int milli);
  // Sets resources of Koordinator's tiers: {"kubernetes.io/batch-cpu": "5000"}.
  void set_allocatable(const std::string& resources);
  // Sets members of resourceUsedThresholdWithBE in addition to "enable".
  void set_slo(const std::string& fields);
  // Advances the counters of the node and its pods by the elapsed time.
  void let_run(double node_cores);

  // ---- the cluster.
  void put_budget(const std::string& pod, int allowed);
  // Lets the kubelet list the pod as Terminating from now on.
  void set_terminating(const std::string& pod);
  // Restores all pods of the start. With `uids`, the API server's pods have the uid "uid-NAME" + `uids`, so they are
  // new pods with the same names.
  void put_back(const std::string& uids = {});

  // ---- the agent. `gates`: "BEMemoryEvict: true"; `extra`: YAML on the outermost level.
  void configure(const std::string& gates, const std::string& mode, const std::string& extra = {});
  bool start() { return agent->start(); }

  // ---- results.
  std::size_t asked();               // number of eviction requests
  std::vector<std::string> going();  // Terminating pods in the API server
  double counted(const std::string& feature, const std::string& result) const;
  bool has_event(const std::string& about, const std::string& reason, const std::string& part = {});
  std::string ctl(std::vector<std::string> arguments) const { return agent->ctl(std::move(arguments)).output; }
  // Waits until the kubelet has listed its pods this many more times, which is enough time for the next eviction.
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
