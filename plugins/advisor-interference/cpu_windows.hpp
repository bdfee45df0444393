// SPDX-License-Identifier: Apache-2.0
// Windows of containers for the analysis, from the figures of their cgroups. Pure. [any thread]
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

// A container in a window.
struct ContainerTimes {
  std::uint64_t handle = 0;
  std::string workload;
  CpuTimes times;  // of all its cgroups, without those that belong to a container inside
  bool is_quota_known = true;
  double throttled_above = 0;               // share of its throttled time that the quota of a cgroup above took
  std::vector<std::uint64_t> sharers = {};  // the other containers below that cgroup
  std::shared_ptr<const analysis::Rules> rules = nullptr;  // of its workload; null: those of the node
};

// The container of each cgroup, by the inode number of its directory; others are outside.
using ContainerOfCgroup = std::unordered_map<std::uint64_t, std::uint64_t>;

// The times of containers. Cgroups outside of pods may be listed together with one above them: the threads of each
// cgroup count once, for the container that the cgroup belongs to.
std::unordered_map<std::uint64_t, CpuTimes> times_by_container(const latency::Windows<CpuTimes>& windows,
                                                               const ContainerOfCgroup& container_of);

// The containers with long waits behind their own threads. Only these are judged by the CPUs that they may use.
std::unordered_set<std::uint64_t> waiting_for_themselves(const std::vector<Blame>& blames,
                                                         const ContainerOfCgroup& container_of);

// `seconds`: the length of the window, > 0. In the order of `containers`.
std::vector<analysis::CpuSubject> cpu_subjects(const std::vector<ContainerTimes>& containers,
                                               const std::vector<Blame>& blames, const ContainerOfCgroup& container_of,
                                               double seconds);

}  // namespace koord::interference
