// SPDX-License-Identifier: Apache-2.0
// CpuPools: the owners of the node's CPUs: reserved ones, those given to single pods, and those shared by the rest.
// Pure. [any thread]
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

// A pod that the kubelet's static policy has given CPUs.
struct StaticPod {
  std::string name_space, name, uid;
  CpuSet cpus;
};

struct CpuPools {
  CpuSet all;                        // online
  CpuSet kubelet;                    // CPUs that the kubelet reserves; part of the pools nevertheless
  CpuSet reserved;                   // by the annotation node.koordinator.sh/reservation
  bool reservation_is_whole = true;  // all of that annotation could be read
  CpuSet system;                     // of the annotation node.koordinator.sh/system-qos-resource
  bool system_exclusive = true;
  std::vector<StaticPod> static_pods;  // by uid
  CpuSet shared;                       // of LS pods
  CpuSet best_effort;                  // of BE pods
  std::vector<std::string> problems;   // parts of annotations that could not be read, a sentence each; the rest counts
};

// `cpu_manager`: needed when the kubelet's policy is static. An error: the kubelet's configuration is not known or
// names no CPUs; then nothing is known of the pools.
Result<CpuPools> make_cpu_pools(const state::Snapshot& state, const std::optional<CpuManagerState>& cpu_manager);

}  // namespace koord::report
