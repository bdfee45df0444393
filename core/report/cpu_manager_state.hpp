// SPDX-License-Identifier: Apache-2.0
// The kubelet's file cpu_manager_state: which CPUs its static policy has given to containers for their own. [any
// thread]
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/cpu_set.hpp"
#include "core/base/result.hpp"

namespace koord::report {

struct CpuManagerState {
  std::string policy;                  // "none", "static"
  std::map<std::string, CpuSet> pods;  // by uid: of all containers together
};

// The form that kubelets since 1.18 write. An error names the member.
Result<CpuManagerState> parse_cpu_manager_state(std::string_view text);

}  // namespace koord::report
