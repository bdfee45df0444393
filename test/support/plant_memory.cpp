// SPDX-License-Identifier: Apache-2.0
// Simulates the memory of a Plant for one period: allocation, reads, and reclaim by limits and by memory shortage.
#include <algorithm>

#include "test/support/plant_tree.hpp"

namespace koord::test {

namespace {

// Free memory, as a share of the node's memory, below which kswapd starts, and above which it stops.
constexpr double kLowWatermark = 0.0125, kHighWatermark = 0.025;
constexpr double kRestartSeconds = 10;  // time between an OOM kill and the next start

void demand(PlantGroup& group, const Plant::Machine& machine, double now) {
  for (auto& child : group.children) demand(*child, machine, now);
  group.memory_stall = 0;
  if (!group.runs) return;
  const double readable = machine.disk_bytes_per_second * kPeriodSeconds;
  const bool up = now >= group.restarts_at;
  group.anonymous = up ? std::max(0.0, group.workload.anonymous(now)) : 0;
  const double hot = up ? std::max(0.0, group.workload.hot_file(now)) : 0;
  if (group.hot > hot) {
    group.cold += group.hot - hot;
    group.hot = hot;
  }
  const double read = std::min(hot - group.hot, readable);
  const double reread = std::min(read, group.evicted);
  group.hot += read;
  group.evicted -= reread;
  group.reread_sum += reread;
  group.memory_stall = reread / readable;
  if (up) group.cold += group.workload.streamed * kPeriodSeconds;
}

void sum(PlantGroup& group) {
  if (group.runs) return;
  group.anonymous = group.hot = group.cold = 0;
  for (auto& child : group.children) {
    group.anonymous += child->anonymous;
    group.hot += child->hot;
    group.cold += child->cold;
  }
}

void sum_upwards(PlantGroup* group) {
  for (; group; group = group->parent) sum(*group);
}

// Computes the effective protection of the groups below `group`, which itself has `kept`. If its children claim more
// than that, it is divided among them in proportion.
void protect(PlantGroup& group, double PlantGroup::*own, double PlantGroup::*kept) {
  double claims = 0;
  for (auto& child : group.children) claims += std::min((*child).*own, child->usage());
  const double there = group.parent ? group.*kept : kNoLimit;
  for (auto& child : group.children) {
    const double claim = std::min((*child).*own, child->usage());
    (*child).*kept = claims > there ? claim * there / claims : claim;
    protect(*child, own, kept);
  }
}

// Reclaims cold or hot pages that are not protected, within `kept`: the same share from each group.
double reclaim_pages(PlantGroup& group, double bytes, double PlantGroup::*pages, double PlantGroup::*kept) {
  double available = 0;
  std::vector<std::pair<PlantGroup*, double>> sources;
  from_the_leaves(group, [&](PlantGroup& leaf) {
    if (!leaf.runs) return;
    const double open = std::clamp(leaf.usage() - (&leaf == &group ? 0 : leaf.*kept), 0.0, leaf.*pages);
    if (open <= 0) return;
    available += open;
    sources.emplace_back(&leaf, open);
  });
  if (available <= 0) return 0;
  const double share = std::min(1.0, bytes / available);
  for (auto& [leaf, open] : sources) {
    leaf->*pages -= open * share;
    if (pages == &PlantGroup::hot) leaf->evicted += open * share;
    leaf->measured.reclaimed += open * share;
  }
  return available * share;
}

void kill_the_largest(PlantGroup& group, double now) {
  PlantGroup* largest = nullptr;
  from_the_leaves(group, [&](PlantGroup& leaf) {
    if (leaf.runs && (!largest || leaf.anonymous > largest->anonymous)) largest = &leaf;
  });
  if (!largest) return;
  largest->anonymous = 0;
  largest->restarts_at = now + kRestartSeconds;
  ++largest->measured.oom_kills;
  sum_upwards(largest->parent);
}

void limit(PlantGroup& group, double now) {
  for (auto& child : group.children) limit(*child, now);
  if (group.usage() > group.memory_max) {
    reclaim(group, group.usage() - group.memory_max);
    if (group.usage() > group.memory_max * (1 + 1e-9)) kill_the_largest(group, now);
  }
  if (group.usage() <= group.memory_high) return;
  reclaim(group, group.usage() - group.memory_high);
  if (group.usage() <= group.memory_high * (1 + 1e-9)) return;
  from_the_leaves(group,
                  [](PlantGroup& leaf) { leaf.memory_stall = leaf.runs ? 1 : 0; });  // stalled at each allocation
}

void reclaim_for_the_node(PlantGroup& root, const Plant::Machine& machine, double now) {
  const double free = machine.memory_bytes - root.usage();
  if (free >= machine.memory_bytes * kLowWatermark) return;
  reclaim(root, machine.memory_bytes * kHighWatermark - free);
  if (root.usage() > machine.memory_bytes) kill_the_largest(root, now);
}

void settle_memory(PlantGroup& group) {
  double some = group.memory_stall, full = group.memory_stall;
  if (!group.runs) {
    full = group.children.empty() ? 0 : 1;
    for (auto& child : group.children) {
      some = std::max(some, child->measured.memory_some.now / 100);
      full = std::min(full, child->measured.memory_full.now / 100);
    }
    group.reread_sum = group.measured.reclaimed = 0;
    group.measured.oom_kills = 0;
    for (auto& child : group.children) {
      group.reread_sum += child->reread_sum;
      group.measured.reclaimed += child->measured.reclaimed;
      group.measured.oom_kills += child->measured.oom_kills;
    }
  }
  update(group.measured.memory_some, some);
  update(group.measured.memory_full, full);
}

}  // namespace

double reclaim(PlantGroup& group, double bytes) {
  protect(group, &PlantGroup::memory_min, &PlantGroup::kept_min);
  protect(group, &PlantGroup::memory_low, &PlantGroup::kept_low);
  from_the_leaves(group, [](PlantGroup& one) { one.kept_low = std::max(one.kept_low, one.kept_min); });
  double got = 0;
  for (auto kept : {&PlantGroup::kept_low, &PlantGroup::kept_min})
    for (auto pages : {&PlantGroup::cold, &PlantGroup::hot})
      if (bytes - got > kNothing) got += reclaim_pages(group, bytes - got, pages, kept);
  from_the_leaves(group, sum);
  sum_upwards(group.parent);
  return got;
}

void run_memory(PlantTree& tree, const Plant::Machine& machine, double now) {
  demand(tree.root, machine, now);
  from_the_leaves(tree.root, sum);
  limit(tree.root, now);
  reclaim_for_the_node(tree.root, machine, now);
  from_the_leaves(tree.root, settle_memory);
}

}  // namespace koord::test
