// SPDX-License-Identifier: Apache-2.0
// Reads the kubelet's file cpu_manager_state: the CPUs that its static policy has assigned exclusively to containers.
// [any thread]
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/cpu_set.hpp"
#include "core/base/result.hpp"

namespace koord::report {

struct CpuManagerState {
  std::string policy;                  // "none", "static"
  std::map<std::string, CpuSet> pods;  // key: uid; value: CPUs of all containers of the pod
};

// Parses the format of kubelets since 1.18. An error names the member.
Result<CpuManagerState> parse_cpu_manager_state(std::string_view text);

}  // namespace koord::report
