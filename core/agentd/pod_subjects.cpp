// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/pod_subjects.hpp"

#include <algorithm>

#include "core/state/classes.hpp"

namespace koord::agentd {
namespace {

bool asks_for_whole_cpus(const state::Container& container) {
  return std::any_of(container.resources.begin(), container.resources.end(), [](const state::Resource& resource) {
    return resource.name == "cpu" && resource.request >= 1000 && resource.request % 1000 == 0;
  });
}

// Koordinator's scheduler pins pods that are labelled LSE or LSR; the kubelet's static policy pins guaranteed ones that
// ask for whole CPUs. Other guaranteed pods count as LSR too, but are not pinned. Best-effort ones have no CPUs of
// their own, whatever their label.
bool has_own_cpus(const state::Snapshot& snapshot, const state::Pod& pod, const state::Container& container) {
  if (pod.kube_qos == state::KubeQos::best_effort) return false;
  const auto label = pod.labels.find(state::kQosLabel);
  if (label != pod.labels.end() && (label->second == "LSE" || label->second == "LSR")) return true;
  const bool is_static = snapshot.kubelet && snapshot.kubelet->cpu_manager_policy == "static";
  return is_static && pod.kube_qos == state::KubeQos::guaranteed && asks_for_whole_cpus(container);
}

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
      subject.has_own_cpus = has_own_cpus(snapshot, pod, container);
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
