// SPDX-License-Identifier: Apache-2.0
// Divides the CPUs of a Plant among the groups with demand, for one period.
#include <algorithm>

#include "test/support/plant_tree.hpp"

namespace koord::test {

namespace {

// Weight of a group with cpu.idle if a normal group has 100: the kernel uses 3 and 1024.
constexpr double kIdleWeight = 0.3;

void allow(PlantGroup& group, unsigned cpus) {
  group.allowed.assign(cpus, 1);
  if (group.parent) group.allowed = group.parent->allowed;
  std::vector<char> own(cpus, 0);
  bool any = false;
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    own[cpu] = group.allowed[cpu] && (group.cpus.empty() || group.cpus.contains(cpu));
    any = any || own[cpu];
  }
  if (any) group.allowed = own;  // as on v2: if none of its CPUs exists, the group uses its parent's CPUs
  for (auto& child : group.children) allow(*child, cpus);
}

void want(PlantGroup& group, double now) {
  group.want = 0;
  if (group.runs) {
    const Workload& workload = group.workload;
    const double fresh = std::max(0.0, workload.cpu(now)) * kPeriodSeconds;
    group.want_sum += fresh;
    group.backlog += fresh;  // until it runs
    group.sought = std::min(group.backlog, workload.threads * kPeriodSeconds);
    const auto cpus = static_cast<double>(std::count(group.allowed.begin(), group.allowed.end(), 1));
    group.want = std::min(group.sought, cpus * kPeriodSeconds);
  }
  for (auto& child : group.children) {
    want(*child, now);
    group.want += child->want;
  }
  group.left = group.want;
  const double allotted = group.quota_us / group.period_us * kPeriodSeconds;
  const double burst = group.burst_us / group.period_us * kPeriodSeconds;
  group.budget = group.quota_us < kNoLimit ? allotted + std::min(group.unused, burst) : kNoLimit;
}

bool claims(const PlantGroup& group, unsigned cpu) {
  return group.left > kNothing && group.budget > kNothing && group.allowed[cpu];
}

// Gives the group up to `amount` of this CPU. Returns how much it takes.
double give(PlantGroup& group, unsigned cpu, double amount) {
  amount = std::min({amount, group.budget, group.left});
  double taken = 0;
  if (group.runs) taken = amount;
  while (!group.runs && amount - taken > kNothing) {
    double weights = 0;
    for (auto& child : group.children)
      if (claims(*child, cpu)) weights += child->idle ? kIdleWeight : child->weight;
    if (weights <= 0) break;
    const double share = (amount - taken) / weights;
    double more = 0;
    for (auto& child : group.children)
      if (claims(*child, cpu)) more += give(*child, cpu, share * (child->idle ? kIdleWeight : child->weight));
    taken += more;
    if (more <= kNothing) break;
  }
  group.left -= taken;
  group.budget -= taken;
  return taken;
}

// Returns the CPUs in order of the number of groups that may use them, because the scheduler moves tasks away from CPUs
// on which others must run.
std::vector<unsigned> least_shared_first(PlantGroup& root, unsigned cpus) {
  std::vector<unsigned> order(cpus), claimants(cpus);
  for (unsigned cpu = 0; cpu < cpus; ++cpu) order[cpu] = cpu;
  from_the_leaves(root, [&](PlantGroup& group) {
    if (group.runs && group.left > kNothing)
      for (unsigned cpu = 0; cpu < cpus; ++cpu) claimants[cpu] += group.allowed[cpu];
  });
  std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return claimants[a] < claimants[b]; });
  return order;
}

void settle_cpu(PlantGroup& group) {
  const double got = group.want - group.left;
  group.got_sum += got;
  double waits = 0;
  if (group.runs) {
    group.backlog = group.workload.queues ? std::max(0.0, group.backlog - got) : 0;
    waits = group.sought > kNothing ? std::clamp(1 - got / group.sought, 0.0, 1.0) : 0;
  } else {
    group.want_sum = group.backlog = 0;
    for (auto& child : group.children) {
      group.want_sum += child->want_sum;
      group.backlog += child->backlog;
      waits = std::max(waits, child->measured.cpu_some.now / 100);
    }
  }
  update(group.measured.cpu_some, waits);
  if (group.quota_us >= kNoLimit) return;
  group.unused = std::max(0.0, group.budget);
  if (group.want <= kNothing) return;
  ++group.measured.nr_periods;
  if (group.budget <= kNothing && group.left > kNothing) ++group.measured.nr_throttled;
}

}  // namespace

void run_cpus(PlantTree& tree, const Plant::Machine& machine, double now) {
  if (tree.cpusets_changed) allow(tree.root, machine.cpus);
  tree.cpusets_changed = false;
  want(tree.root, now);
  for (unsigned cpu : least_shared_first(tree.root, machine.cpus)) give(tree.root, cpu, kPeriodSeconds);
  from_the_leaves(tree.root, settle_cpu);
}

}  // namespace koord::test
