// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/pod_subjects.hpp"

#include <algorithm>

namespace koord::agentd {
namespace {

bool asks_for_whole_cpus(const state::Container& container) {
  return std::any_of(container.resources.begin(), container.resources.end(), [](const state::Resource& resource) {
    return resource.name == "cpu" && resource.request >= 1000 && resource.request % 1000 == 0;
  });
}

// Koordinator's scheduler pins pods of LSE and LSR; the kubelet's static policy pins guaranteed ones that ask for whole CPUs.
bool has_own_cpus(const state::Snapshot& snapshot, const state::Pod& pod, const state::Container& container) {
  if (pod.koord_qos == state::KoordQos::lse || pod.koord_qos == state::KoordQos::lsr) return true;
  const bool is_static = snapshot.kubelet && snapshot.kubelet->cpu_manager_policy == "static";
  return is_static && pod.kube_qos == state::KubeQos::guaranteed && asks_for_whole_cpus(container);
}

}  // namespace

knob::Subjects subjects_of(const state::Snapshot& snapshot) {
  knob::Subjects subjects;
  for (const state::Pod& pod : snapshot.pods) {
    const auto annotation = pod.annotations.find(knob::kHandsOffAnnotation);
    knob::Subject subject{pod.uid, pod.namespace_, pod.name};
    if (annotation != pod.annotations.end()) subject.hands_off = knob::parse_hands_off(annotation->second);
    for (const state::Container& container : pod.containers) {
      if (container.cgroup_dir.empty()) continue;
      subject.container = container.name;
      subject.has_own_cpus = has_own_cpus(snapshot, pod, container);
      subjects.add(container.cgroup_dir, subject);
    }
    subject.container.clear();
    subject.has_own_cpus = false;
    if (!pod.cgroup_dir.empty()) subjects.add(pod.cgroup_dir, std::move(subject));
  }
  return subjects;
}

}  // namespace koord::agentd
