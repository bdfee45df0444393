// SPDX-License-Identifier: Apache-2.0
// NodeView: reads the strategy's inputs about the node from the host: the owners of CPUs, the cgroups of best-effort
// pods, and usages. On the instance's strand.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/qos-cpu-suppress/cpu_suppress.hpp"
#include "plugins/shared/sdk/newest.hpp"

namespace koord::cpu_suppress {

class NodeView {
 public:
  NodeView() = default;
  explicit NodeView(const koord_host* host);

  // Fills `inputs` except for values of the NodeSLO. Ignores samples older than `max_age_ns`. Throws plugin::Failure if
  // a value is unknown that a decision needs.
  void read(const plugin::Snapshot& snapshot, std::uint64_t now_ns, std::uint64_t max_age_ns, Inputs& inputs);

 private:
  void follow_topology(const plugin::Snapshot& snapshot);
  void follow_node(const plugin::Snapshot& snapshot);
  void follow_pods(const plugin::Snapshot& snapshot);
  void follow_pod(const koord_pod& pod, const std::vector<std::string>& class_dirs);
  void follow_slo(const plugin::Snapshot& snapshot);
  void read_exclusive_cpus(std::uint64_t now_ns);
  CpuSet cpus_of(const std::string& cgroup_dir) const;
  bool is_unified() const;
  usage::Split use(std::uint64_t now_ns, std::uint64_t max_age_ns);

  // A container to which the kubelet's static policy may have assigned whole CPUs.
  struct WholeCpus {
    std::string cgroup_dir;
    std::size_t count;
  };

  const koord_host* host_ = nullptr;
  plugin::Files files_;
  const koord_svc_knobs* knobs_ = nullptr;
  usage::NewestSamples newest_;
  std::uint64_t topology_version_ = 0, node_version_ = 0, pods_version_ = 0, slo_version_ = 0;
  std::vector<Cpu> online_;
  CpuSet closed_cpus_;            // CPUs forbidden for best-effort pods: reserved, of SYSTEM pods alone, of LSE pods
  CpuSet lsr_cpus_, given_cpus_;  // assigned by the scheduler: to LSR pods, to any pod
  std::int64_t capacity_milli_ = 0;
  double reserved_cores_ = 0;
  std::unordered_map<std::uint64_t, bool> best_effort_;  // key: a pod's handle
  bool pods_run_ = false;
  Targets targets_;
  std::vector<WholeCpus> whole_cpus_;
  CpuSet exclusive_cpus_;  // CPUs of these containers that the kubelet assigned
  std::uint64_t exclusive_until_ns_ = 0;
  std::set<std::string> best_effort_applications_;
};

}  // namespace koord::cpu_suppress
