// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/pod_subjects.hpp"

#include "core/state/cpu_owners.hpp"

namespace koord::agentd {
namespace {

knob::SpecLimits spec_limits_of(const std::vector<state::Resource>& resources) {
  knob::SpecLimits limits;
  for (const state::Resource& resource : resources) {
    if (resource.limit <= 0) continue;
    if (resource.name == "cpu") limits.cpu_milli = resource.limit;
    if (resource.name == "memory") limits.memory_bytes = resource.limit;
  }
  return limits;
}

knob::QuotaRules quota_rules_of(const state::Snapshot& snapshot) {
  knob::QuotaRules rules;
  if (!snapshot.kubelet) return rules;
  rules.is_known = true;
  rules.is_enforced = snapshot.kubelet->cpu_cfs_quota;
  if (snapshot.kubelet->cpu_cfs_quota_period_us > 0) rules.period_us = snapshot.kubelet->cpu_cfs_quota_period_us;
  return rules;
}

bool runs_with_pod(const state::Container& container) {
  return container.kind == state::ContainerKind::regular || container.kind == state::ContainerKind::sidecar;
}

}  // namespace

knob::Subjects subjects_of(const state::Snapshot& snapshot) {
  knob::Subjects subjects;
  subjects.set_quota_rules(quota_rules_of(snapshot));
  for (const state::Pod& pod : snapshot.pods) {
    const auto annotation = pod.annotations.find(decision::kHandsOffAnnotation);
    knob::Subject subject{pod.uid, pod.namespace_, pod.name};
    knob::Subject whole = subject;
    whole.limits = spec_limits_of(pod.resources);
    if (annotation != pod.annotations.end()) subject.hands_off = decision::parse_hands_off(annotation->second);
    for (const state::Container& container : pod.containers) {
      if (container.cgroup_dir.empty()) continue;
      subject.container = container.name;
      subject.has_own_cpus = state::has_own_cpus(snapshot, pod, container);
      subject.limits = spec_limits_of(container.resources);
      whole.has_own_cpus |= subject.has_own_cpus;
      if (runs_with_pod(container)) whole.containers.push_back(container.cgroup_dir);
      subjects.add(container.cgroup_dir, subject);
    }
    whole.hands_off = subject.hands_off;
    if (!pod.cgroup_dir.empty()) subjects.add(pod.cgroup_dir, std::move(whole));
  }
  return subjects;
}

}  // namespace koord::agentd
