// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/pod_subjects.hpp"

namespace koord::agentd {

knob::Subjects subjects_of(const state::Snapshot& snapshot) {
  knob::Subjects subjects;
  for (const state::Pod& pod : snapshot.pods) {
    const auto annotation = pod.annotations.find(knob::kHandsOffAnnotation);
    knob::Subject subject{pod.uid, pod.namespace_, pod.name};
    if (annotation != pod.annotations.end()) subject.hands_off = knob::parse_hands_off(annotation->second);
    for (const state::Container& container : pod.containers) {
      if (container.cgroup_dir.empty()) continue;
      subject.container = container.name;
      subjects.add(container.cgroup_dir, subject);
    }
    subject.container.clear();
    if (!pod.cgroup_dir.empty()) subjects.add(pod.cgroup_dir, std::move(subject));
  }
  return subjects;
}

}  // namespace koord::agentd
