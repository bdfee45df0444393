// SPDX-License-Identifier: Apache-2.0
// Kubernetes objects as YAML or JSON, quantities and times, from files that anyone may have written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/quantity.hpp"
#include "core/state/objects.hpp"

using namespace koord;
using namespace koord::state;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_pods(const std::vector<Pod>& pods) {
  for (const Pod& pod : pods) {
    check(!pod.uid.empty() && cgroup::is_cgroup(pod.cgroup_dir));
    for (const Container& container : pod.containers) check(cgroup::is_cgroup(container.cgroup_dir));
    for (const Resource& resource : pod.resources) check(resource.request >= kNoResource);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (cgroup::Driver driver : {cgroup::Driver::systemd, cgroup::Driver::cgroupfs}) {
    if (auto pods = parse_pod_list(text, cgroup::default_kube_root(driver))) check_pods(*pods);
  }
  (void)parse_node(text);
  (void)parse_node_slo(text);
  (void)parse_timestamp(text);
  if (Result<Quantity> quantity = Quantity::parse(text)) check(quantity->value() != INT64_MIN);
  return 0;
}
