// SPDX-License-Identifier: Apache-2.0
// Windows of containers for the analysis of the CPU, from the values of their cgroups. Pure. [any thread]
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/analysis/cpu_analysis.hpp"
#include "plugins/advisor-interference/cpu_blame.hpp"

namespace koord::interference {

// Values of a container in a window.
struct ContainerTimes {
  std::uint64_t handle = 0;
  std::string workload;
  CpuTimes times;  // sum over its cgroups, without the cgroups of a container inside it
  bool is_quota_known = true;
  double throttled_above = 0;               // share of its throttled time caused by the quota of an ancestor
  std::vector<std::uint64_t> sharers = {};  // the other containers below that ancestor
  std::shared_ptr<const analysis::Rules> rules = nullptr;  // rules of its workload; null: the node's rules
};

// The container of each cgroup, by the inode number of the cgroup's directory. Other cgroups are outside of containers.
using ContainerOfCgroup = std::unordered_map<std::uint64_t, std::uint64_t>;

// Returns the times of containers. Cgroups outside of pods may be listed together with an ancestor cgroup. The threads
// of each cgroup are counted only once, for the container that owns the cgroup.
std::unordered_map<std::uint64_t, CpuTimes> times_by_container(const latency::Windows<CpuTimes>& windows,
                                                               const ContainerOfCgroup& container_of);

// Returns the containers that waited long for CPUs used by their own threads. Only for these containers must the CPUs
// be known that they may use.
std::unordered_set<std::uint64_t> waiting_for_themselves(const std::vector<Blame>& blames,
                                                         const ContainerOfCgroup& container_of);

// Returns the subjects in the order of `containers`. `seconds`: length of the window, > 0.
std::vector<analysis::CpuSubject> cpu_subjects(const std::vector<ContainerTimes>& containers,
                                               const std::vector<Blame>& blames, const ContainerOfCgroup& container_of,
                                               double seconds);

}  // namespace koord::interference
