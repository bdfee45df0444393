// SPDX-License-Identifier: Apache-2.0
// The inputs of the report, with any content: the kubelet's cpu_manager_state, facts of plugins, and objects of the API
// server. A value that was merged into an object is found there at the next time.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/report/cpu_manager_state.hpp"
#include "core/report/cpu_pools.hpp"
#include "core/report/devices.hpp"
#include "core/report/direct_report.hpp"
#include "core/report/node_topology.hpp"
#include "core/report/reported.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::report;

namespace {

state::Snapshot node() {
  state::Snapshot state;
  for (int cpu = 0; cpu < 4; ++cpu) state.topology.cpus.push_back({cpu, cpu / 2, 0, cpu / 2, 0, true, false});
  state.topology.numa_nodes = {{0, 1 << 30}, {1, 1 << 30}};
  state.kubelet = state::KubeletConfig();
  state.kubelet->cpu_manager_policy = "static";
  return state;
}

void check_topology(std::string_view text) {
  state::Snapshot state = node();
  state::Pod pod;
  pod.annotations["scheduling.koordinator.sh/resource-status"] = text;
  state.pods.push_back(pod);
  state.node.annotations["node.koordinator.sh/reservation"] = text;
  state.node.annotations["node.koordinator.sh/system-qos-resource"] = text;
  const Result<CpuManagerState> given = parse_cpu_manager_state(text);
  Result<CpuPools> pools = make_cpu_pools(state, given ? *given : CpuManagerState());
  if (!pools) {
    state.node.annotations.clear();
    pools = make_cpu_pools(state, CpuManagerState());
  }
  check(pools.has_value() && pools->all.includes(pools->shared) && pools->all.includes(pools->best_effort));
  const NodeTopology ours = make_node_topology({state, *pools, std::string(text), std::string(text)});
  const Result<std::optional<std::string>> merged = merge_node_topology(ours, text);
  if (!merged || !*merged) return;
  const Result<std::optional<std::string>> again = merge_node_topology(ours, **merged);
  check(again && !*again);
}

void check_devices(std::string_view text) {
  Devices devices;
  if (auto gpus = parse_gpu_fact(text)) devices.gpus = *gpus;
  if (auto rdma = parse_rdma_fact(text)) devices.rdma = *rdma;
  for (std::string_view object : {text, std::string_view("{}")}) {
    const Result<std::optional<std::string>> merged = merge_devices(devices, object, 0);
    if (!merged || !*merged) continue;
    const Result<std::optional<std::string>> again = merge_devices(devices, **merged, 60);
    check(again && !*again);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto reported = parse_reported(text)) check(change(reported->usage, reported->usage, {}) == 0);
  check_topology(text);
  check_devices(text);
  (void)check_direct_answer(text);
  return 0;
}
