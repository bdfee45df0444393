// SPDX-License-Identifier: Apache-2.0
// The host applications of a NodeSLO with any content: every cgroup must be inside the tree and below its root.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "plugins/advisor-host-application/host_applications.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::host_application;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<cgroup::KubeRoot> roots = {cgroup::default_kube_root(cgroup::Driver::systemd),
                                               cgroup::default_kube_root(cgroup::Driver::cgroupfs)};
  const auto found = parse_host_applications({reinterpret_cast<const char*>(data), size}, roots);
  if (!found) return 0;
  for (const Application& application : found->applications) {
    check(!application.name.empty() && !application.cgroup_dirs.empty());
    for (const std::string& dir : application.cgroup_dirs) check(!dir.empty() && cgroup::is_cgroup(dir));
  }
  for (const std::string& refused : found->refused) check(refused.starts_with("hostApplications["));
  return 0;
}
