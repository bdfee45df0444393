// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/workload_scope.hpp"

#include <algorithm>

namespace koord::analysis {
namespace {

bool has(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::string_view template_hash_of(const WorkloadFacts& pod) {
  const auto hash = pod.labels.find("pod-template-hash");
  return hash == pod.labels.end() ? std::string_view() : std::string_view(hash->second);
}

}  // namespace

WorkloadOwner owner_in_cluster(WorkloadOwner owner, std::string_view template_hash) {
  const std::string end = "-" + std::string(template_hash);
  if (owner.kind != "ReplicaSet" || template_hash.empty() || !owner.name.ends_with(end) ||
      owner.name.size() == end.size())
    return owner;
  return {"Deployment", owner.name.substr(0, owner.name.size() - end.size())};
}

bool LabelRequirement::holds(const std::map<std::string, std::string>& labels) const {
  const auto label = labels.find(key);
  const bool exists = label != labels.end();
  switch (op) {
    case LabelOperator::in:
      return exists && has(values, label->second);
    case LabelOperator::not_in:
      return !exists || !has(values, label->second);
    case LabelOperator::exists:
      return exists;
    case LabelOperator::does_not_exist:
      break;
  }
  return !exists;
}

bool WorkloadScope::contains(const WorkloadFacts& pod) const {
  if (!namespaces.empty() && !has(namespaces, pod.namespace_)) return false;
  if (!std::all_of(labels.begin(), labels.end(), [&](const LabelRequirement& one) { return one.holds(pod.labels); }))
    return false;
  if (owners.empty()) return true;
  const WorkloadOwner in_cluster = owner_in_cluster(pod.owner, template_hash_of(pod));
  return std::any_of(owners.begin(), owners.end(),
                     [&](const WorkloadOwner& one) { return one == pod.owner || one == in_cluster; });
}

}  // namespace koord::analysis
