// SPDX-License-Identifier: Apache-2.0
// DaemonSetPod: the real agent as a pod of its DaemonSet has it: the environment and the service account of a pod, a
// node's trees below other roots, the API server and the kubelet of a TestCluster. In a mount namespace of its own,
// where the service account's directory is the cluster's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/agent_process.hpp"
#include "test/support/fake_node.hpp"
#include "test/support/test_cluster.hpp"

namespace koord::test {

// A pod as in a kubelet's answer, and its memory in the node's cgroups.
struct PodSpec {
  std::string name;
  std::string uid;
  char digit = 'a';                // its one container's id is this 64 times
  std::string qos = "Burstable";   // of Kubernetes
  std::string labels = "{}";       // JSON
  std::int64_t anon_pages = 1000;  // of its container
};
std::string as_json(const PodSpec& pod);
double bytes_of(const PodSpec& pod);  // its memory as the agent is to measure it

class DaemonSetPod {
 public:
  struct Options {
    std::string gates = "Witness: true";     // of the plugins of this folder
    std::string kubelet = "syncPeriod: 1s";  // state.kubelet
    std::string extra = {};                  // YAML behind our own keys; roots and state are taken
  };
  DaemonSetPod();
  explicit DaemonSetPod(const Options& options);

  // The pods that run on the node: their cgroups, and the kubelet's answer.
  void run_pods(const std::vector<PodSpec>& pods);
  // Only the cgroups: the node's state while its kubelet is silent.
  void run_cgroups(const std::vector<PodSpec>& pods);

  bool start() { return agent.start(); }
  // Whether the agent is the process that was started, and says no word of giving up.
  bool alive() { return agent.process().running(); }
  // One metric of the witness, "witness_pods"; -1 while it is not there.
  double seen(std::string_view metric, const std::vector<std::string>& labels = {}) const;
  // How often an object of this kind was created, updated or patched, or was to be.
  std::size_t writes(std::string_view kind);
  // The memory in bytes that is measured for a pod; -1: none.
  double memory_of(std::string_view pod) const;

  TestCluster cluster;
  FakeNode node;
  AgentProcess agent;

 private:
  std::vector<PodSpec> laid_out_;
};

}  // namespace koord::test
