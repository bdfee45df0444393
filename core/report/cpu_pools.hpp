// SPDX-License-Identifier: Apache-2.0
// CpuPools: divides the node's CPUs into reserved CPUs, CPUs assigned to single pods, and CPUs shared by the other
// pods. Pure. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/cpu_set.hpp"
#include "core/base/result.hpp"
#include "core/report/cpu_manager_state.hpp"
#include "core/state/snapshot.hpp"

namespace koord::report {

// A pod with exclusive CPUs from the kubelet's static policy.
struct StaticPod {
  std::string name_space, name, uid;
  CpuSet cpus;
};

struct CpuPools {
  CpuSet all;                        // online
  CpuSet kubelet;                    // CPUs that the kubelet reserves; the pools still contain them
  CpuSet reserved;                   // reserved by the annotation node.koordinator.sh/reservation
  bool reservation_is_whole = true;  // the whole annotation was valid
  CpuSet system;                     // set by the annotation node.koordinator.sh/system-qos-resource
  bool system_exclusive = true;
  std::vector<StaticPod> static_pods;  // sorted by uid
  CpuSet shared;                       // pool for LS pods
  CpuSet best_effort;                  // pool for BE pods
  std::vector<std::string> problems;   // invalid parts of annotations, one sentence each; the valid parts are used
};

// `cpu_manager`: required if the kubelet's policy is static. Fails if the kubelet's configuration is unknown or names
// no CPUs; in that case the pools are unknown.
Result<CpuPools> make_cpu_pools(const state::Snapshot& state, const std::optional<CpuManagerState>& cpu_manager);

}  // namespace koord::report
