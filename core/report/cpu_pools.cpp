// SPDX-License-Identifier: Apache-2.0
#include "core/report/cpu_pools.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <tuple>

#include "core/base/quantity.hpp"
#include "core/report/annotations.hpp"
#include "core/report/json_text.hpp"
#include "core/state/classes.hpp"

namespace koord::report {
namespace {

namespace json = boost::json;

constexpr std::int64_t kMilli = 1000;

std::string_view find(const state::StringMap& map, std::string_view key) {
  auto found = map.find(key);
  return found == map.end() ? std::string_view() : std::string_view(found->second);
}

// The annotation as an object; empty when there is none.
Result<json::object> annotation(const state::StringMap& annotations, std::string_view key) {
  const std::string_view text = find(annotations, key);
  if (text.empty()) return json::object();
  return parse_root(text, std::string(key).c_str());
}

Result<CpuSet> cpus_of(const json::object& object, std::string_view member, std::string_view where) {
  Result<CpuSet> cpus = CpuSet::parse(text_of(object, member));
  if (!cpus) return std::move(cpus).error().context(std::string(where) + ": " + std::string(member));
  return cpus;
}

std::size_t whole_cpus(std::int64_t milli) { return static_cast<std::size_t>(std::max<std::int64_t>(milli + kMilli - 1, 0) / kMilli); }

std::int64_t amount(const std::map<std::string, std::int64_t, std::less<>>& resources, std::string_view name) {
  auto found = resources.find(name);
  return found == resources.end() ? 0 : found->second;
}

Result<CpuSet> kubelet_reserved(const state::KubeletConfig& kubelet, const state::Topology& topology) {
  if (kubelet.reserved_cpus.empty())
    return pick_cpus(topology, whole_cpus(amount(kubelet.system_reserved, "cpu") + amount(kubelet.kube_reserved, "cpu")));
  Result<CpuSet> cpus = CpuSet::parse(kubelet.reserved_cpus);
  if (!cpus) return std::move(cpus).error().context("reservedSystemCPUs of the kubelet");
  return cpus;
}

Result<CpuSet> node_reserved(const state::Node& node, const state::Topology& topology) {
  const json::object reservation = TRY(annotation(node.annotations, kReservationAnnotation));
  if (!text_of(reservation, "reservedCPUs").empty()) return cpus_of(reservation, "reservedCPUs", kReservationAnnotation);
  const std::string_view cpu = text_of(member_of(reservation, "resources"), "cpu");
  if (cpu.empty()) return CpuSet();
  const Result<Quantity> quantity = Quantity::parse(cpu);
  if (!quantity) return Error(quantity.error()).context(std::string(kReservationAnnotation) + ": resources.cpu");
  return pick_cpus(topology, whole_cpus(quantity->milli()));
}

// A kubelet knows nothing of the classes, and gives CPUs to pods that are to share.
bool shares_by_label(const state::Pod& pod) {
  const std::string_view qos = find(pod.labels, state::kQosLabel);
  return qos == "LS" || qos == "BE";
}

bool has_ended(const state::Pod& pod) { return pod.phase == state::Phase::succeeded || pod.phase == state::Phase::failed; }

// CPUs that the scheduler gave a pod; a text that is none gives none, since any user may have written it.
CpuSet scheduled_cpus(const state::Pod& pod) {
  const Result<json::object> status = annotation(pod.annotations, kResourceStatusAnnotation);
  if (!status) return {};
  return cpus_of(*status, "cpuset", kResourceStatusAnnotation).value_or({});
}

struct Taken {
  CpuSet by_kubelet, by_pods, by_exclusive_pods;  // the last: of the class LSE
};

Taken take_cpus(const state::Snapshot& state, const std::optional<CpuManagerState>& cpu_manager, std::vector<StaticPod>& static_pods) {
  std::map<std::string, CpuSet> given;
  if (cpu_manager && state.kubelet->cpu_manager_policy == "static") given = cpu_manager->pods;
  Taken taken;
  for (const state::Pod& pod : state.pods) {
    const CpuSet scheduled = has_ended(pod) ? CpuSet() : scheduled_cpus(pod);
    taken.by_pods = taken.by_pods | scheduled;
    if (pod.koord_qos == state::KoordQos::lse) taken.by_exclusive_pods = taken.by_exclusive_pods | scheduled;
    auto own = given.find(pod.uid);
    if (own == given.end()) continue;
    if (shares_by_label(pod) || !scheduled.empty()) {
      given.erase(own);
    } else {
      static_pods.push_back({pod.namespace_, pod.name, pod.uid, own->second});
    }
  }
  // Of a pod that nobody has told us of yet the CPUs are taken all the same.
  for (const auto& [uid, cpus] : given) taken.by_kubelet = taken.by_kubelet | cpus;
  std::sort(static_pods.begin(), static_pods.end(), [](const auto& a, const auto& b) { return a.uid < b.uid; });
  return taken;
}

}  // namespace

CpuSet pick_cpus(const state::Topology& topology, std::size_t count) {
  std::vector<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t>> order;
  for (const state::Cpu& cpu : topology.cpus) {
    if (cpu.online) order.emplace_back(cpu.socket, cpu.numa_node, cpu.core, cpu.cpu);
  }
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), count));
  CpuSet picked;
  for (const auto& place : order) picked.insert(static_cast<unsigned>(std::get<3>(place)));
  return picked;
}

Result<CpuPools> make_cpu_pools(const state::Snapshot& state, const std::optional<CpuManagerState>& cpu_manager) {
  if (!state.kubelet) return not_found("the kubelet's configuration is not known");
  if (state.kubelet->cpu_manager_policy == "static" && !cpu_manager) return not_found("which CPUs the kubelet gave to pods is not known");
  CpuPools pools;
  for (const state::Cpu& cpu : state.topology.cpus) {
    if (cpu.online) pools.all.insert(static_cast<unsigned>(cpu.cpu));
  }
  if (pools.all.empty()) return not_found("the CPUs of the node are not known");
  pools.kubelet = TRY(kubelet_reserved(*state.kubelet, state.topology));
  pools.reserved = TRY(node_reserved(state.node, state.topology));
  const json::object system = TRY(annotation(state.node.annotations, kSystemQosAnnotation));
  pools.system = TRY(cpus_of(system, "cpuset", kSystemQosAnnotation));
  if (const json::value* exclusive = system.if_contains("cpusetExclusive"); exclusive != nullptr && exclusive->is_bool())
    pools.system_exclusive = exclusive->get_bool();

  const Taken taken = take_cpus(state, cpu_manager, pools.static_pods);
  CpuSet rest = pools.all - taken.by_kubelet - pools.reserved;
  if (pools.system_exclusive) rest = rest - pools.system;
  pools.shared = rest - taken.by_pods;
  pools.best_effort = rest - taken.by_exclusive_pods;
  return pools;
}

}  // namespace koord::report
