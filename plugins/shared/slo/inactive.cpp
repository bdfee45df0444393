// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/slo/inactive.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <vector>

#include "core/base/parse.hpp"
#include "core/json/members.hpp"

namespace koord::slo {
namespace {

namespace json = boost::json;

// Feature gates that use a field of resourceUsedThresholdWithBE.
struct Use {
  std::string_view field, gates;
};
constexpr Use kUses[] = {
    {"cpuSuppressPolicy", "BECPUSuppress"},
    {"memoryEvictThresholdPercent", "BEMemoryEvict|MemoryEvict"},
    {"memoryEvictLowerPercent", "BEMemoryEvict|MemoryEvict"},
    {"memoryAllocatableEvictThresholdPercent", "MemoryAllocatableEvict"},
    {"memoryAllocatableEvictLowerPercent", "MemoryAllocatableEvict"},
    {"cpuEvictBESatisfactionUpperPercent", "BECPUEvict"},
    {"cpuEvictBESatisfactionLowerPercent", "BECPUEvict"},
    {"cpuEvictBEUsageThresholdPercent", "BECPUEvict"},
    {"cpuEvictPolicy", "BECPUEvict"},
    {"cpuEvictTimeWindowSeconds", "BECPUEvict|CPUEvict"},
    {"cpuEvictThresholdPercent", "CPUEvict"},
    {"cpuEvictLowerPercent", "CPUEvict"},
    {"cpuAllocatableEvictThresholdPercent", "CPUAllocatableEvict"},
    {"cpuAllocatableEvictLowerPercent", "CPUAllocatableEvict"},
    {"evictEnabledPriorityThreshold", "CPUEvict|MemoryEvict"},
    {"allocatableEvictPriorityThreshold", "CPUAllocatableEvict|MemoryAllocatableEvict"},
};

// Removes `prefix` and the '.' after it. Returns false if the path does not begin with `prefix`.
bool take_prefix(std::string_view& path, std::string_view prefix) {
  if (!path.starts_with(prefix)) return false;
  path.remove_prefix(prefix.size());
  if (path.starts_with('.')) path.remove_prefix(1);
  return true;
}

// Returns the strategies that use the value at this path.
std::vector<std::string> users_of(std::string_view path) {
  std::vector<std::string> users;
  if (take_prefix(path, "cpuBurstStrategy")) return {"CPUBurst"};
  if (take_prefix(path, "resourceUsedThresholdWithBE")) {
    for (const Use& use : kUses) {
      std::string_view gates = use.gates;
      if (use.field == path)
        while (auto gate = next_field(gates, '|')) users.emplace_back(*gate);
    }
    return users;
  }
  if (!take_prefix(path, "resourceQOSStrategy")) return users;
  const std::string_view of_class = path.substr(0, path.find('.'));
  if (take_prefix(path, of_class) && path.starts_with("resctrlQOS"))
    users.push_back("RdtResctrl/" + std::string(of_class));
  return users;
}

void switch_off(std::optional<ClassQos>& section) {
  if (section && section->resctrl) section->resctrl->enable = false;
}

void take_out(NodeSlo& slo) {
  const auto is_inactive = [&](std::string_view name) { return slo.inactive.contains(name); };
  if (slo.cpu_burst && is_inactive("CPUBurst")) slo.cpu_burst->policy = BurstPolicy::none;
  if (!slo.resource_qos) return;
  if (is_inactive("RdtResctrl/lsrClass")) switch_off(slo.resource_qos->lsr);
  if (is_inactive("RdtResctrl/lsClass")) switch_off(slo.resource_qos->ls);
  if (is_inactive("RdtResctrl/beClass")) switch_off(slo.resource_qos->be);
  if (is_inactive("RdtResctrl/systemClass")) switch_off(slo.resource_qos->system);
}

}  // namespace

void find_inactive(const json::value& spec, const Problems& problems, NodeSlo& slo) {
  for (const auto& [name, reason] : json_mapping(spec, kInactiveMember).get_object())
    if (reason.is_string()) slo.inactive.emplace(std::string(name), std::string(reason.get_string()));
  for (const std::string& problem : problems)
    for (const std::string& name : users_of(std::string_view(problem).substr(0, problem.find(':'))))
      slo.inactive.emplace(name, problem);
  if (!slo.inactive.empty()) take_out(slo);
}

}  // namespace koord::slo
