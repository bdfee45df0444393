// SPDX-License-Identifier: Apache-2.0
// The annotations that hook-cpuset reads, with any content: a pod gets only online CPUs, and without a quota at most as
// many as it requests.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plugins/hook-cpuset/cpuset.hpp"

using namespace koord::hook_cpuset;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto allocation = parse_allocation(text);
  const auto system = parse_system_cpus(text);
  const koord_cpu cpus[] = {{0, 0, 0, 0, 0, KOORD_CPU_ONLINE},
                            {1, 1, 0, 0, 0, KOORD_CPU_ONLINE | KOORD_CPU_LSR},
                            {2, 2, 0, 1, 1, KOORD_CPU_ONLINE},
                            {3, 3, 0, 1, 1, 0}};
  const Pools pools = pools_of({cpus, 4, sizeof cpus[0]});
  for (const std::string_view label : {"", "LSE", "LSR", "LS", "BE", "SYSTEM"}) {
    PodFacts pod{
        .label = label, .is_best_effort = false, .may_own_statically = false, .allocation = {}, .request_milli = 1000};
    if (allocation) pod.allocation = *allocation;
    const Adjustment adjustment = adjust(pod, pools, system ? *system : koord::CpuSet(), {});
    if (adjustment.cpus && (adjustment.cpus->empty() || !pools.online.includes(*adjustment.cpus))) std::abort();
    if (adjustment.has_no_quota && adjustment.cpus->size() > 1) std::abort();
  }
  return 0;
}
