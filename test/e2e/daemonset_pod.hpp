// SPDX-License-Identifier: Apache-2.0
// DaemonSetPod: the real agent in the environment of a pod of its DaemonSet: the environment variables and the service
// account of a pod, a node's trees below other roots, and the API server and kubelet of a TestCluster. It runs in its
// own mount namespace, in which the service account's directory is the directory of the cluster.
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
  char digit = 'a';                // the id of its only container is 64 of these
  std::string qos = "Burstable";   // the class of Kubernetes
  std::string labels = "{}";       // JSON
  std::int64_t anon_pages = 1000;  // anonymous pages of the container
};
std::string as_json(const PodSpec& pod);
double bytes_of(const PodSpec& pod);  // the memory that the agent must measure

class DaemonSetPod {
 public:
  struct Options {
    std::string gates = "Witness: true";     // gates of the plugins in test/e2e/plugins
    std::string kubelet = "syncPeriod: 1s";  // state.kubelet
    std::string extra = {};                  // YAML after this class's own keys; it must not set roots and state
  };
  DaemonSetPod();
  explicit DaemonSetPod(const Options& options);

  // Sets the running pods of the node: their cgroups, and the kubelet's answer.
  void run_pods(const std::vector<PodSpec>& pods);
  // Sets only the cgroups. This is the node's state while its kubelet is silent.
  void run_cgroups(const std::vector<PodSpec>& pods);

  bool start() { return agent.start(); }
  // Returns whether the agent is still the process that was started.
  bool alive() { return agent.process().running(); }
  // Returns a metric of the witness plugin, such as "witness_pods"; -1 if it does not exist yet.
  double seen(std::string_view metric, const std::vector<std::string>& labels = {}) const;
  // Returns how many requests created, updated or patched an object of this kind, successful or not.
  std::size_t writes(std::string_view kind);
  // Returns the measured memory of a pod in bytes; -1 if none is measured.
  double memory_of(std::string_view pod) const;

  TestCluster cluster;
  FakeNode node;
  AgentProcess agent;

 private:
  std::vector<PodSpec> laid_out_;
};

}  // namespace koord::test
