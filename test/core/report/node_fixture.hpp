// SPDX-License-Identifier: Apache-2.0
// A node with two sockets of one NUMA node each; a socket has two cores with two threads each, and 16 GiB: CPUs 0-3 and
// 4-7, cores 0-3.
#pragma once

#include "core/report/annotations.hpp"
#include "core/state/snapshot.hpp"

namespace koord::test {

struct NodeOfTwoSockets {
  state::Snapshot state;

  NodeOfTwoSockets() {
    for (int cpu = 0; cpu < 8; ++cpu)
      state.topology.cpus.push_back({cpu, cpu / 2, cpu / 4, cpu / 4, cpu / 4, true, false});
    state.topology.numa_nodes = {{0, 16ll << 30}, {1, 16ll << 30}};
    state.node.name = "a";
    state.node.uid = "node-uid";
    state.kubelet = state::KubeletConfig();
  }
  void annotate(std::string_view key, const std::string& value) { state.node.annotations[std::string(key)] = value; }
  state::Pod& pod(const std::string& uid, state::KoordQos qos, const std::string& cpuset = {}) {
    state::Pod pod;
    pod.uid = uid;
    pod.namespace_ = "ns";
    pod.name = "pod-" + uid;
    pod.koord_qos = qos;
    pod.phase = state::Phase::running;
    if (!cpuset.empty())
      pod.annotations[std::string(report::kResourceStatusAnnotation)] = R"({"cpuset":")" + cpuset + "\"}";
    state.pods.push_back(pod);
    return state.pods.back();
  }
};

}  // namespace koord::test
