// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-group-identity/kernel_knobs.hpp"

#include <string>

#include "core/base/file.hpp"
#include "core/cgroup/layout.hpp"
#include "plugins/shared/node/value_file.hpp"

namespace koord::group_identity {

Kernel find_kernel_knobs(const NodeRoots& roots) {
  Kernel kernel;
  kernel.has_identities = node::exists(roots.proc + "/sys/kernel/sched_group_identity_enabled");
  const Result<cgroup::Layout> layout = cgroup::Layout::detect(roots);
  const std::string top = layout ? layout->directory(cgroup::Controller::cpu, "") : std::string();
  if (top.empty()) return kernel;
  const Result<std::vector<std::string>> cgroups = list_subdirectories(top);
  for (const std::string& cgroup : cgroups ? *cgroups : std::vector<std::string>()) {
    kernel.has_identities |= node::exists(top + "/" + cgroup + "/cpu.bvt_warp_ns");
    kernel.has_idle |= node::exists(top + "/" + cgroup + "/cpu.idle");
  }
  return kernel;
}

}  // namespace koord::group_identity
