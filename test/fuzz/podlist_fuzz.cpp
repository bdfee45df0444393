// SPDX-License-Identifier: Apache-2.0
// Pods as YAML or JSON, from files of any author and from servers, and times.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/timestamp.hpp"
#include "core/state/named_cgroups.hpp"
#include "core/state/objects.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::state;

namespace {

void check_pods(const std::vector<Pod>& pods) {
  for (const Pod& pod : pods) {
    check(!pod.uid.empty() && cgroup::is_cgroup(pod.cgroup_dir));
    for (const Container& container : pod.containers) check(cgroup::is_cgroup(container.cgroup_dir));
    for (const Resource& resource : pod.resources) check(resource.request >= kNoResource);
  }
}

std::vector<Pod> without_unread_annotations(std::vector<Pod> pods) {
  const AnnotationKeys keys;
  for (Pod& pod : pods)
    std::erase_if(pod.annotations, [&](const auto& annotation) { return !keys.contains(annotation.first); });
  return pods;
}

// Checks that a server's list gives the same pods as a file's (without unused annotations) if all are valid, and that
// each problem names an item or a pod.
void check_served(std::string_view text) {
  const cgroup::KubeRoot root = cgroup::default_kube_root(cgroup::Driver::systemd);
  const auto served = parse_served_pods(text, root);
  if (!served) return;
  check_pods(served->pods);
  const auto all = parse_pod_list(text, root);
  check(all ? served->problems.empty() && served->pods == without_unread_annotations(*all) : true);
  for (const std::string& problem : served->problems)
    check(problem.starts_with("items[") || problem.starts_with("pod "));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (cgroup::Driver driver : {cgroup::Driver::systemd, cgroup::Driver::cgroupfs}) {
    auto pods = parse_pod_list(text, cgroup::default_kube_root(driver));
    if (!pods) continue;
    check_pods(*pods);
    if (take_named_cgroups(*pods)) check_pods(*pods);
  }
  check_served(text);
  (void)parse_timestamp(text);
  return 0;
}
