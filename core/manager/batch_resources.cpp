// SPDX-License-Identifier: Apache-2.0
#include "core/manager/batch_resources.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "core/base/cpu_set.hpp"
#include "core/base/parse.hpp"
#include "core/json/field.hpp"
#include "core/json/reader.hpp"

namespace koord::manager {
namespace {

namespace json = boost::json;

constexpr std::string_view kReservation = "node.koordinator.sh/reservation";
constexpr std::string_view kNormalization = "node.koordinator.sh/cpu-normalization-ratio";
constexpr double kMostNormalization = 5;

std::int64_t bounded_amount(std::int64_t amount) { return std::clamp<std::int64_t>(amount, 0, kMostAmount); }

// All amounts are at most kMostAmount, so sums and products do not overflow.
std::int64_t plus(std::int64_t a, std::int64_t b) { return std::min(a + b, kMostAmount); }
std::int64_t percent_of(std::int64_t amount, std::int64_t percent) {
  const double part = static_cast<double>(amount) / 100 * static_cast<double>(percent);
  return static_cast<std::int64_t>(std::clamp(part, 0.0, static_cast<double>(kMostAmount)));
}

CpuMemory plus(const CpuMemory& a, const CpuMemory& b) { return {plus(a.cpu, b.cpu), plus(a.memory, b.memory)}; }
CpuMemory most(const CpuMemory& a, const CpuMemory& b) {
  return {std::max(a.cpu, b.cpu), std::max(a.memory, b.memory)};
}

std::int64_t amount_in(const std::map<std::string, std::int64_t, std::less<>>& amounts, std::string_view name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : bounded_amount(found->second);
}

Result<CpuMemory> annotated_reservation(const std::string& text) {
  const json::value document = TRY(read_json(text));
  const JsonField reservation(document);
  TRY(reservation.check_mapping());
  const auto amounts = TRY(reservation["resources"].resources());
  CpuMemory reserved{amount_in(amounts, "cpu"), amount_in(amounts, "memory")};
  const std::string list = TRY(reservation["reservedCPUs"].text());
  if (list.empty()) return reserved;
  const CpuSet cpus = TRY(CpuSet::parse(list));
  reserved.cpu = static_cast<std::int64_t>(cpus.size()) * 1000;
  return reserved;
}

CpuMemory system_use(const NodeSize& node, const NodeUsage& usage) {
  CpuMemory system = usage.system;
  for (std::size_t i = 0; i < usage.applications.size(); ++i)
    if (goes_before_batch(usage.applications[i].priority)) system = plus(system, usage.applications[i].usage);
  return most(system, node.reserved);
}

// The terms of the formulas, for one resource.
struct Terms {
  std::int64_t capacity, reserved, system, used, requested, most_of_both;
};

std::int64_t batch_of(const Terms& of, const ResourceShare& share) {
  const std::int64_t usable = percent_of(of.capacity, share.reclaim_percent);
  std::int64_t rest = 0;
  switch (share.policy) {
    case Policy::usage:
      rest = usable - of.system - of.used;
      break;
    case Policy::request:
      rest = usable - of.reserved - of.requested;
      break;
    case Policy::max_usage_request:
      rest = usable - of.system - of.most_of_both;
      break;
  }
  rest = std::max<std::int64_t>(rest, 0);
  return share.batch_percent ? std::min(rest, percent_of(of.capacity, *share.batch_percent)) : rest;
}

std::int64_t mid_of(const Terms& of, std::int64_t node_used, const std::int64_t* reclaimable,
                    const ResourceShare& share, std::int64_t unallocated_percent) {
  if (share.mid_static_percent > 0) return percent_of(of.capacity, share.mid_static_percent);
  if (!reclaimable) return 0;
  const std::int64_t unused = std::max<std::int64_t>(of.capacity - node_used, 0);
  const std::int64_t unallocated = std::max<std::int64_t>(of.capacity - of.reserved - of.requested, 0);
  return std::min(plus(std::min(*reclaimable, unused), percent_of(unallocated, unallocated_percent)),
                  percent_of(of.capacity, share.mid_percent));
}

Terms cpu_terms(const NodeSize& node, const CpuMemory& system, const Demand& demand) {
  return {node.capacity.cpu, node.reserved.cpu,    system.cpu,
          demand.used.cpu,   demand.requested.cpu, demand.most_of_both.cpu};
}

Terms memory_terms(const NodeSize& node, const CpuMemory& system, const Demand& demand) {
  return {node.capacity.memory, node.reserved.memory,    system.memory,
          demand.used.memory,   demand.requested.memory, demand.most_of_both.memory};
}

}  // namespace

NodeSize node_size(const state::Node& node, std::vector<std::string>& problems) {
  NodeSize size;
  size.capacity = {amount_in(node.capacity, "cpu"), amount_in(node.capacity, "memory")};
  const CpuMemory allocatable{amount_in(node.allocatable, "cpu"), amount_in(node.allocatable, "memory")};
  size.reserved = {std::max<std::int64_t>(size.capacity.cpu - allocatable.cpu, 0),
                   std::max<std::int64_t>(size.capacity.memory - allocatable.memory, 0)};
  if (const auto own = node.annotations.find(kReservation); own != node.annotations.end()) {
    if (const Result<CpuMemory> reserved = annotated_reservation(own->second))
      size.reserved = most(size.reserved, *reserved);
    else
      problems.push_back("annotation " + own->first + ": " + reserved.error().message() + ", ignoring");
  }
  if (const auto own = node.annotations.find(kNormalization); own != node.annotations.end()) {
    const Result<double> ratio = parse_double(own->second);
    if (ratio && *ratio > 0 && *ratio <= kMostNormalization)
      size.normalization = std::max(*ratio, 1.0);
    else
      problems.push_back("annotation " + own->first + ": found '" + own->second +
                         "', expected a ratio above 0 and of at most 5, ignoring");
  }
  return size;
}

Demand demand_of(const std::map<std::string, PodFacts, std::less<>>& pods, const NodeUsage& usage) {
  // An ordered map, because in a hash table a report with colliding names could stop the loop.
  std::map<std::string_view, PodUse> reported;
  for (std::size_t i = 0; i < usage.pods.size(); ++i) reported.emplace(usage.pods[i].name, usage.pods[i]);
  Demand demand;
  for (const auto& [name, pod] : pods) {
    const auto use = reported.find(name);
    const CpuMemory* used = use == reported.end() ? nullptr : &use->second.usage;
    if (pod.counts && goes_before_batch(pod.priority)) {
      const CpuMemory& request = pod.request;
      demand.requested = plus(demand.requested, request);
      // Other pods cannot use the CPUs of this pod, even if they are idle.
      const bool is_exclusive = pod.qos == state::KoordQos::lse;
      demand.used = plus(demand.used, !used ? request : is_exclusive ? CpuMemory{request.cpu, used->memory} : *used);
      // A pod without a report counts with its request. Koordinator does this for a NUMA node, but not for a node.
      demand.most_of_both = plus(demand.most_of_both, used ? most(request, *used) : request);
    }
    if (pod.counts && use != reported.end()) reported.erase(use);
  }
  for (const auto& [name, use] : reported) {
    if (!goes_before_batch(use.priority)) continue;
    demand.used = plus(demand.used, use.usage);
    demand.most_of_both = plus(demand.most_of_both, use.usage);
  }
  return demand;
}

CpuMemory batch_resources(const NodeSize& node, const Colocation& colocation, const Demand& demand,
                          const NodeUsage& usage) {
  const CpuMemory system = system_use(node, usage);
  const std::int64_t cpu = batch_of(cpu_terms(node, system, demand), colocation.cpu);
  return {static_cast<std::int64_t>(static_cast<double>(cpu) * node.normalization),
          batch_of(memory_terms(node, system, demand), colocation.memory)};
}

CpuMemory mid_resources(const NodeSize& node, const Colocation& colocation, const Demand& demand,
                        const NodeUsage& usage) {
  const CpuMemory system = system_use(node, usage);
  const std::int64_t* cpu = usage.prod_reclaimable ? &usage.prod_reclaimable->cpu : nullptr;
  const std::int64_t* memory = usage.prod_reclaimable ? &usage.prod_reclaimable->memory : nullptr;
  return {
      mid_of(cpu_terms(node, system, demand), usage.node.cpu, cpu, colocation.cpu, colocation.mid_unallocated_percent),
      mid_of(memory_terms(node, system, demand), usage.node.memory, memory, colocation.memory,
             colocation.mid_unallocated_percent)};
}

}  // namespace koord::manager
