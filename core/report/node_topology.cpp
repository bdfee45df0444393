// SPDX-License-Identifier: Apache-2.0
#include "core/report/node_topology.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "core/base/parse.hpp"
#include "core/report/annotations.hpp"
#include "core/report/json_text.hpp"

namespace koord::report {
namespace {

namespace json = boost::json;

constexpr std::int64_t kMilliPerCpu = 1000;
constexpr std::int64_t kKi = 1024;

std::string basic_info(const std::string& cpu_info) {
  if (Result<json::object> root = parse_root(cpu_info, "node_cpu_info"))
    return json::serialize(json_mapping(*root, "basicInfo"));
  return {};
}

std::string cpu_topology(const state::Topology& topology) {
  json::array detail;
  for (const state::Cpu& cpu : topology.cpus) {
    if (!cpu.online) continue;
    detail.push_back(
        json::object{{"id", cpu.cpu}, {"core", cpu.core}, {"socket", cpu.socket}, {"node", cpu.numa_node}});
  }
  return json::serialize(json::object{{"detail", std::move(detail)}});
}

std::string pools_by_node(const state::Topology& topology, const CpuSet& pool) {
  std::map<std::pair<std::int32_t, std::int32_t>, CpuSet> by_place;
  for (const state::Cpu& cpu : topology.cpus) {
    const auto number = static_cast<unsigned>(cpu.cpu);
    if (pool.contains(number)) by_place[{cpu.socket, cpu.numa_node}].insert(number);
  }
  json::array pools;
  for (const auto& [place, cpus] : by_place)
    pools.push_back(json::object{{"socket", place.first}, {"node", place.second}, {"cpuset", cpus.list()}});
  return json::serialize(pools);
}

std::string pod_cpus(const std::vector<StaticPod>& pods) {
  json::array list;
  for (const StaticPod& pod : pods)
    list.push_back(json::object{{"namespace", pod.name_space},
                                {"name", pod.name},
                                {"uid", pod.uid},
                                {"cpuset", pod.cpus.list()},
                                {"managedByKubelet", true}});
  return json::serialize(list);
}

std::string cpu_manager(const state::KubeletConfig& kubelet, const CpuSet& reserved) {
  json::object policy{{"policy", kubelet.cpu_manager_policy.empty() ? "none" : kubelet.cpu_manager_policy}};
  if (!kubelet.cpu_manager_options.empty()) {
    json::object options;
    for (const auto& [name, value] : kubelet.cpu_manager_options) options[name] = value;
    policy["options"] = std::move(options);
  }
  if (!reserved.empty()) policy["reservedCPUs"] = reserved.list();
  return json::serialize(policy);
}

// Returns the Node's annotation with the selected CPUs. If the annotation is malformed, returns only the CPUs, because
// readers cannot parse a copy.
std::string reservation(const state::Node& node, const CpuPools& pools) {
  json::object copy;
  const auto found = node.annotations.find(kReservationAnnotation);
  if (pools.reservation_is_whole && found != node.annotations.end()) {
    if (Result<json::object> root = parse_root(found->second, "reservation")) copy = std::move(*root);
  }
  if (!pools.reserved.empty()) copy["reservedCPUs"] = pools.reserved.list();
  return json::serialize(copy);
}

std::string system_qos(const CpuPools& pools) {
  if (pools.system.empty()) return "{}";
  return json::serialize(json::object{{"cpuset", pools.system.list()}, {"cpusetExclusive", pools.system_exclusive}});
}

std::string policy_of(const state::KubeletConfig& kubelet) {
  const char* scope = kubelet.topology_manager_scope == "pod" ? "PodLevel" : "ContainerLevel";
  if (kubelet.topology_manager_policy == "single-numa-node") return std::string("SingleNUMANode") + scope;
  if (kubelet.topology_manager_policy == "restricted") return std::string("Restricted") + scope;
  if (kubelet.topology_manager_policy == "best-effort") return std::string("BestEffort") + scope;
  return "None";
}

struct Memory {
  std::int64_t huge_1gi = 0, huge_2mi = 0, all_huge = 0;
};

// Returns huge pages by NUMA node, from the fact's hugePagesMap: {"0": {"2048": {"numPages": 4, …}}}.
std::map<std::int32_t, Memory> huge_pages(const std::string& numa_info) {
  std::map<std::int32_t, Memory> by_node;
  const Result<json::object> root = parse_root(numa_info, "node_numa_info");
  if (!root) return by_node;
  for (const auto& [node, sizes] : json_mapping(*root, "hugePagesMap").get_object()) {
    const Result<std::int64_t> id = parse_int({node.data(), node.size()});
    if (!id || !sizes.is_object()) continue;
    Memory& memory = by_node[static_cast<std::int32_t>(*id)];
    for (const auto& [size, pages] : sizes.get_object()) {
      const Result<std::int64_t> kilobytes = parse_int({size.data(), size.size()});
      const std::optional<std::int64_t> count = json_integer(pages, "numPages");
      if (!kilobytes || !count) continue;
      std::int64_t bytes = 0;
      if (__builtin_mul_overflow(*count, *kilobytes, &bytes) || __builtin_mul_overflow(bytes, kKi, &bytes)) continue;
      memory.all_huge += bytes;
      if (*kilobytes == 1048576) memory.huge_1gi = bytes;
      if (*kilobytes == 2048) memory.huge_2mi = bytes;
    }
  }
  return by_node;
}

std::int64_t amount_of(const std::map<std::string, std::int64_t, std::less<>>& resources, std::string_view name) {
  auto found = resources.find(name);
  return found == resources.end() ? 0 : found->second;
}

bool spreads_reservation(const state::Node& node) {
  auto found = node.labels.find(kNumaReservationLabel);
  return found != node.labels.end() && found->second == "true";
}

// Distributes the Node's reserved resources evenly over its NUMA nodes.
void reserve(std::vector<Zone>& zones, const state::Node& node) {
  const auto count = static_cast<std::int64_t>(zones.size());
  for (const char* name : {"cpu", "memory"}) {
    const std::int64_t kept =
        std::max<std::int64_t>(amount_of(node.capacity, name) - amount_of(node.allocatable, name), 0);
    for (Zone& zone : zones) {
      ZoneResource& resource = zone.resources[name];
      resource.allocatable = std::max<std::int64_t>(resource.capacity - (kept + count - 1) / count, 0);
    }
  }
}

std::vector<Zone> make_zones(const state::Snapshot& state, const std::string& numa_info) {
  const std::map<std::int32_t, Memory> huge = huge_pages(numa_info);
  std::vector<Zone> zones;
  for (const state::NumaNode& node : state.topology.numa_nodes) {
    const auto cpus = std::count_if(state.topology.cpus.begin(), state.topology.cpus.end(),
                                    [&node](const state::Cpu& cpu) { return cpu.online && cpu.numa_node == node.id; });
    const auto pages = huge.find(node.id);
    const Memory memory = pages == huge.end() ? Memory() : pages->second;
    Zone zone{"node-" + std::to_string(node.id), {}};
    const auto add = [&zone](const char* name, std::int64_t size) { zone.resources[name] = {size, size}; };
    add("cpu", cpus * kMilliPerCpu);
    add("memory", std::max<std::int64_t>(node.memory_bytes - memory.all_huge, 0));
    add("hugepages-1Gi", memory.huge_1gi);
    add("hugepages-2Mi", memory.huge_2mi);
    zones.push_back(std::move(zone));
  }
  if (spreads_reservation(state.node)) reserve(zones, state.node);
  std::sort(zones.begin(), zones.end(), [](const Zone& a, const Zone& b) { return a.name < b.name; });
  return zones;
}

}  // namespace

NodeTopology make_node_topology(const NodeTopologyInputs& inputs) {
  const state::Snapshot& state = inputs.state;
  const CpuPools& pools = inputs.pools;
  NodeTopology topology;
  topology.annotations = {{std::string(kCpuTopologyAnnotation), cpu_topology(state.topology)},
                          {std::string(kSharedPoolsAnnotation), pools_by_node(state.topology, pools.shared)},
                          {std::string(kBestEffortPoolsAnnotation), pools_by_node(state.topology, pools.best_effort)},
                          {std::string(kPodCpusAnnotation), pod_cpus(pools.static_pods)},
                          {std::string(kCpuManagerAnnotation), cpu_manager(*state.kubelet, pools.kubelet)},
                          {std::string(kReservationAnnotation), reservation(state.node, pools)},
                          {std::string(kSystemQosAnnotation), system_qos(pools)}};
  if (std::string info = basic_info(inputs.cpu_info); !info.empty())
    topology.annotations.emplace(kCpuBasicInfoAnnotation, std::move(info));
  auto label = state.node.labels.find(kNumaReservationLabel);
  topology.labels.emplace(kNumaReservationLabel,
                          label == state.node.labels.end() ? std::nullopt : std::optional(label->second));
  topology.policy = policy_of(*state.kubelet);
  topology.zones = make_zones(state, inputs.numa_info);
  topology.degraded = join(pools.problems, "; ");
  return topology;
}

}  // namespace koord::report
