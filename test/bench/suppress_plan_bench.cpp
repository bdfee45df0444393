// SPDX-License-Identifier: Apache-2.0
// One plan() of qos-cpu-suppress on a full node with high usage: 250 pods of three containers each, half of them
// best-effort, without a change since the last round. The reference is the time that all strategies together may take,
// including the work around their plan().
#include <string>
#include <vector>

#include "plugins/qos-cpu-suppress/cpu_suppress.hpp"
#include "test/bench/measure.hpp"

using namespace koord;

namespace {

constexpr std::size_t kPods = 250, kContainers = 3;
constexpr double kAllowedMs = 10;

cpu_suppress::Inputs full_node(cpu_suppress::Policy policy) {
  cpu_suppress::Inputs inputs;
  inputs.policy = policy;
  inputs.capacity_milli = 64'000;
  for (std::uint32_t cpu = 0; cpu < 64; ++cpu) inputs.pools.online.push_back({cpu, cpu / 2, cpu / 32, cpu / 32});
  usage::Parts parts{.node = 50};
  for (std::size_t pod = 0; pod < kPods; ++pod) {
    const bool best_effort = pod % 2 == 0;
    parts.pods.push_back({0.15, best_effort});
    for (std::size_t container = 0; best_effort && container < kContainers; ++container)
      inputs.targets.containers.push_back("kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" +
                                          std::to_string(pod) + ".slice/cri-containerd-" + std::to_string(container) +
                                          ".scope");
  }
  inputs.use = usage::split(parts);
  inputs.targets.classes = {"kubepods.slice/kubepods-besteffort.slice"};
  return inputs;
}

template <class Round>
void measure(const std::string& name, const Round& round) {
  std::vector<double> milliseconds;
  for (int i = 0; i < 101; ++i) milliseconds.push_back(1000 * bench::cpu_seconds_of(round));
  bench::print_ratio(name, bench::median(milliseconds), "all may take", kAllowedMs, "ms", 0.35);
}

void measure_suppress(const std::string& name, cpu_suppress::Policy policy, bool v2) {
  cpu_suppress::Inputs inputs = full_node(policy);
  inputs.targets.cpus_of_parents = v2;
  cpu_suppress::Memory memory;
  measure(name, [&] {
    inputs.now_ns += 1'000'000'000;
    static_cast<void>(plan(inputs, {}, memory));
  });
}

}  // namespace

int main() {
  measure_suppress("qos-cpu-suppress, cpuset on v1: 375 intents", cpu_suppress::Policy::cpuset, false);
  measure_suppress("qos-cpu-suppress, cpuset on v2: 1 intent", cpu_suppress::Policy::cpuset, true);
  measure_suppress("qos-cpu-suppress, cfsQuota: 1 intent", cpu_suppress::Policy::cfs_quota, false);
}
