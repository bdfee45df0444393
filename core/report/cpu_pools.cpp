// SPDX-License-Identifier: Apache-2.0
#include "core/report/cpu_pools.hpp"

#include <algorithm>

#include "core/state/classes.hpp"

namespace koord::report {
namespace {

std::int64_t amount(const std::map<std::string, std::int64_t, std::less<>>& resources, std::string_view name) {
  auto found = resources.find(name);
  return found == resources.end() ? 0 : found->second;
}

Result<CpuSet> kubelet_reserved(const state::KubeletConfig& kubelet, const state::Topology& topology) {
  if (kubelet.reserved_cpus.empty())
    return state::pick_cpus(
        topology, state::whole_cpus(amount(kubelet.system_reserved, "cpu") + amount(kubelet.kube_reserved, "cpu")));
  Result<CpuSet> cpus = CpuSet::parse(kubelet.reserved_cpus);
  if (!cpus) return std::move(cpus).error().context("reservedSystemCPUs of the kubelet");
  return cpus;
}

// Returns whether the QoS class of the pod shares CPUs (LS, BE). The kubelet ignores the class, and may have given the
// pod exclusive CPUs.
bool shares_by_label(const state::Pod& pod) {
  const auto qos = pod.labels.find(state::kQosLabel);
  return qos != pod.labels.end() && (qos->second == "LS" || qos->second == "BE");
}

// Returns the CPUs that the kubelet's static policy gave to pods exclusively. Adds these pods to `static_pods`.
CpuSet take_static_cpus(const state::Snapshot& state, const std::optional<CpuManagerState>& cpu_manager,
                        std::vector<StaticPod>& static_pods) {
  std::map<std::string, CpuSet> given;
  if (cpu_manager && state.kubelet->cpu_manager_policy == "static") given = cpu_manager->pods;
  for (const state::Pod& pod : state.pods) {
    auto own = given.find(pod.uid);
    if (own == given.end()) continue;
    if (shares_by_label(pod) || !state::scheduled_cpus(pod).empty()) {
      given.erase(own);
    } else {
      static_pods.push_back({pod.namespace_, pod.name, pod.uid, own->second});
    }
  }
  // This includes the CPUs of pods that are not yet in `state`.
  CpuSet taken;
  for (const auto& [uid, cpus] : given) taken = taken | cpus;
  std::sort(static_pods.begin(), static_pods.end(), [](const auto& a, const auto& b) { return a.uid < b.uid; });
  return taken;
}

}  // namespace

Result<CpuPools> make_cpu_pools(const state::Snapshot& state, const std::optional<CpuManagerState>& cpu_manager) {
  if (!state.kubelet) return not_found("the kubelet's configuration is not known");
  if (state.kubelet->cpu_manager_policy == "static" && !cpu_manager)
    return not_found("which CPUs the kubelet gave to pods is not known");
  CpuPools pools;
  pools.all = state::online_cpus(state.topology);
  if (pools.all.empty()) return not_found("the CPUs of the node are not known");
  pools.kubelet = TRY(kubelet_reserved(*state.kubelet, state.topology));
  const state::CpuOwners owners =
      state.cpu_owners ? *state.cpu_owners : state::find_cpu_owners(state.node, state.pods, state.topology);
  pools.reserved = owners.reserved;
  pools.reservation_is_whole = owners.reservation_is_whole;
  pools.system = owners.system;
  pools.system_exclusive = owners.system_exclusive;
  pools.problems = owners.node_problems;

  CpuSet rest = pools.all - take_static_cpus(state, cpu_manager, pools.static_pods) - pools.reserved;
  if (pools.system_exclusive) rest = rest - pools.system;
  pools.shared = rest - owners.lse - owners.lsr - owners.pinned;
  pools.best_effort = rest - owners.lse;
  return pools;
}

}  // namespace koord::report
