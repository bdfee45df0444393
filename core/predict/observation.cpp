// SPDX-License-Identifier: Apache-2.0
#include "core/predict/observation.hpp"

#include <algorithm>
#include <array>

#include "core/metric/find_label.hpp"
#include "core/predict/subject.hpp"
#include "core/store/store.hpp"

namespace koord::predict {
namespace {

using Values = std::map<std::string, double, std::less<>>;  // key: uid of the pod; "" is the node

Values p90_of(const store::Store& store, const char* metric, Time from, Time to) {
  constexpr std::array kP90{store::Aggregation::p90};
  Values values;
  for (const store::AggregateRow& row : store.aggregate({metric, {}, from, to}, kP90)) {
    const std::string* uid = metric::find_label(row.labels, "pod_uid");
    values[uid ? *uid : std::string()] = row.values.front();
  }
  return values;
}

std::map<std::string, Usage, std::less<>> usages(const Values& cpu, const Values& memory) {
  std::map<std::string, Usage, std::less<>> both;
  for (const auto& [key, cores] : cpu) {
    if (auto bytes = memory.find(key); bytes != memory.end()) both[key] = {cores, bytes->second};
  }
  return both;
}

bool should_be_measured(const state::Pod& pod) { return pod.phase == state::Phase::running && !pod.deleting; }

Usage rest_of(const Usage& node, const Usage& pods) {
  return {std::max(node.cpu_cores - pods.cpu_cores, 0.0), std::max(node.memory_bytes - pods.memory_bytes, 0.0)};
}

void add_pods(Observation& found, const state::Snapshot& state,
              const std::map<std::string, Usage, std::less<>>& measured) {
  struct Count {
    std::size_t expected = 0, measured = 0;
  };
  std::map<state::PriorityClass, Count> counts;
  Count all;
  Usage sum;
  for (state::PriorityClass klass : kPriorityClasses) found.classes[klass] = {};
  for (const state::Pod& pod : state.pods) {
    Count& count = counts[pod.priority_class];
    count.expected += should_be_measured(pod);
    all.expected += should_be_measured(pod);
    auto usage = measured.find(pod.uid);
    if (usage == measured.end() || !found.pods.emplace(pod.uid, PodUsage{pod.priority_class, usage->second}).second)
      continue;
    ++count.measured;
    ++all.measured;
    found.classes[pod.priority_class] += usage->second;
    sum += usage->second;
  }
  for (const auto& [klass, count] : counts)
    if (count.expected > 0 && count.measured == 0) found.classes.erase(klass);
  if (all.expected > 0 && all.measured == 0)
    found.problem =
        "none of " + std::to_string(all.expected) + " running pods has values of " + kPodCpu + " and " + kPodMemory;
  else if (found.node)
    found.system = rest_of(*found.node, sum);
}

}  // namespace

Observation observe(const state::Snapshot& state, const std::optional<Usage>& node,
                    const std::map<std::string, Usage, std::less<>>& measured) {
  Observation found;
  found.node = node;
  if (state.versions.pods == 0)
    found.problem = "the pods of this node are not known";
  else
    add_pods(found, state, measured);
  if (!node)
    found.problem += (found.problem.empty() ? "" : "; ") + std::string("the node has no values of ") + kNodeCpu +
                     " and " + kNodeMemory;
  return found;
}

Observation observe(const state::Snapshot& state, const store::Store& store, Time now, Duration period) {
  auto node = usages(p90_of(store, kNodeCpu, now - period, now), p90_of(store, kNodeMemory, now - period, now));
  auto pods = usages(p90_of(store, kPodCpu, now - period, now), p90_of(store, kPodMemory, now - period, now));
  auto found = node.find("");
  return observe(state, found == node.end() ? std::nullopt : std::optional(found->second), pods);
}

}  // namespace koord::predict
