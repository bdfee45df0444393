// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-cpuset/cpuset.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "core/json/cpu_set_field.hpp"
#include "core/json/field.hpp"
#include "core/json/reader.hpp"

namespace koord::hook_cpuset {
namespace {

constexpr std::int64_t kMilli = 1000;
// The largest NUMA node number of Linux.
constexpr std::int64_t kMostNode = 1023;

// Returns the parsed annotation, or nullopt for an empty text.
Result<std::optional<boost::json::value>> document_of(std::string_view annotation) {
  if (annotation.empty()) return std::optional<boost::json::value>();
  boost::json::value document = TRY(read_json(annotation));
  TRY(JsonField(document).check_mapping());
  return std::optional(std::move(document));
}

// Returns the NUMA nodes of the list that have CPU time.
Result<std::vector<std::uint32_t>> numa_nodes_in(const JsonField& list) {
  std::vector<std::uint32_t> nodes;
  for (const JsonField& entry : TRY(list.list())) {
    const std::int64_t node = TRY(entry["node"].integer(0));
    if (node < 0 || node > kMostNode) return entry["node"].wrong("expected a number from 0 to 1023");
    const auto resources = TRY(entry["resources"].resources());
    const bool has_cpu = std::any_of(resources.begin(), resources.end(), [](const auto& resource) {
      return (resource.first == "cpu" || resource.first == "kubernetes.io/batch-cpu") && resource.second > 0;
    });
    if (has_cpu) nodes.push_back(static_cast<std::uint32_t>(node));
  }
  return nodes;
}

Result<Allocation> read_allocation(std::string_view annotation) {
  const auto document = TRY(document_of(annotation));
  if (!document) return Allocation{};
  const JsonField object(*document);
  Allocation allocation;
  allocation.cpus = TRY(cpu_set_of(object["cpuset"]));
  allocation.numa_nodes = TRY(numa_nodes_in(object["numaNodeResources"]));
  return allocation;
}

Result<CpuSet> read_system_cpus(std::string_view annotation) {
  const auto document = TRY(document_of(annotation));
  if (!document) return CpuSet();
  return cpu_set_of(JsonField(*document)["cpuset"]);
}

bool owns_cpus(const PodFacts& pod) {
  return pod.label == "LSE" || pod.label == "LSR" || (pod.label.empty() && !pod.is_best_effort);
}

std::int64_t whole_cpus(std::int64_t milli) { return milli / kMilli + (milli % kMilli > 0 ? 1 : 0); }

Adjustment adjust_owner(const PodFacts& pod, const Pools& pools, const Settings& settings) {
  Adjustment adjustment;
  const CpuSet usable = pod.allocation.cpus & pools.online;
  if (usable.empty()) {
    adjustment.problem = "none of its CPUs " + pod.allocation.cpus.list() + " is online";
    return adjustment;
  }
  adjustment.cpus = usable;
  if (!owns_cpus(pod) || !settings.removes_quota) return adjustment;
  // Any user may write the annotation. An allocation of more CPUs than requested does not come from the scheduler.
  adjustment.has_no_quota = static_cast<std::int64_t>(usable.size()) <= whole_cpus(pod.request_milli);
  if (!adjustment.has_no_quota)
    adjustment.problem = "it has " + std::to_string(usable.size()) + " CPUs of its own and requests " +
                         std::to_string(pod.request_milli) + "m; its CPU quota stays";
  return adjustment;
}

// Returns the part of the pool on the pod's NUMA nodes. If they have no CPUs of the pool, returns the whole pool and
// the problem.
Adjustment share(const CpuSet& pool, const PodFacts& pod, const Pools& pools) {
  Adjustment adjustment;
  if (pool.empty()) {
    adjustment.problem = "all CPUs are reserved or belong to single pods; its CPUs stay as they are";
    return adjustment;
  }
  CpuSet of_nodes;
  for (const std::uint32_t node : pod.allocation.numa_nodes)
    if (const auto found = pools.numa_nodes.find(node); found != pools.numa_nodes.end())
      of_nodes = of_nodes | (found->second & pool);
  if (!pod.allocation.numa_nodes.empty() && of_nodes.empty())
    adjustment.problem = "its NUMA nodes have no CPU that pods share; it gets the shared ones of all nodes";
  const CpuSet& chosen = of_nodes.empty() ? pool : of_nodes;
  if (chosen != pools.online) adjustment.cpus = chosen;  // all CPUs need no cpuset
  return adjustment;
}

}  // namespace

Result<Allocation> parse_allocation(std::string_view annotation) {
  Result<Allocation> allocation = read_allocation(annotation);
  if (!allocation) return std::move(allocation).error().context(kAllocationAnnotation);
  return allocation;
}

Result<CpuSet> parse_system_cpus(std::string_view annotation) {
  Result<CpuSet> cpus = read_system_cpus(annotation);
  if (!cpus) return std::move(cpus).error().context(kSystemAnnotation);
  return cpus;
}

Pools pools_of(plugin::Strided<koord_cpu> cpus) {
  Pools pools;
  for (const koord_cpu& cpu : cpus) {
    if ((cpu.flags & KOORD_CPU_ONLINE) == 0) continue;
    pools.online.insert(cpu.cpu);
    pools.numa_nodes[cpu.numa_node].insert(cpu.cpu);
    constexpr std::uint32_t kNotBestEffort = KOORD_CPU_RESERVED | KOORD_CPU_SYSTEM | KOORD_CPU_LSE;
    if ((cpu.flags & kNotBestEffort) == 0) pools.best_effort.insert(cpu.cpu);
    if ((cpu.flags & (kNotBestEffort | KOORD_CPU_LSR | KOORD_CPU_PINNED)) == 0) pools.shared.insert(cpu.cpu);
  }
  return pools;
}

Adjustment adjust(const PodFacts& pod, const Pools& pools, const CpuSet& system, const Settings& settings) {
  if (pools.online.empty()) return {};  // the topology is unknown
  if (!pod.allocation.cpus.empty()) return adjust_owner(pod, pools, settings);
  const bool is_best_effort = pod.label == "BE" || (pod.label.empty() && pod.is_best_effort);
  if (is_best_effort) {
    if (settings.uses_best_effort_pools && !pod.allocation.numa_nodes.empty())
      return share(pools.best_effort, pod, pools);
    return {};
  }
  const CpuSet of_system = system & pools.online;
  if (pod.label == "SYSTEM" && !of_system.empty()) return {.cpus = of_system, .has_no_quota = false, .problem = {}};
  if (settings.has_static_policy || pod.is_best_effort) return {};
  if (pod.label.empty() && pod.may_own_statically) return {};
  return share(pools.shared, pod, pools);
}

}  // namespace koord::hook_cpuset
