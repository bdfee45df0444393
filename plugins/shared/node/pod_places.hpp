// SPDX-License-Identifier: Apache-2.0
// Returns the places of a snapshot's pods, which are valid while the snapshot exists.
#pragma once

#include "koordetector/plugin.hpp"
#include "plugins/shared/node/kube_roots.hpp"

namespace koord::kube {

inline cgroup::KubeQos kube_qos(std::uint32_t qos) {
  switch (qos) {
    case KOORD_KUBE_QOS_GUARANTEED:
      return cgroup::KubeQos::guaranteed;
    case KOORD_KUBE_QOS_BURSTABLE:
      return cgroup::KubeQos::burstable;
    case KOORD_KUBE_QOS_BEST_EFFORT:
      return cgroup::KubeQos::best_effort;
    default:
      return cgroup::KubeQos::unknown;
  }
}

inline std::vector<PodPlace> places_of(plugin::Strided<koord_pod> pods) {
  std::vector<PodPlace> places;
  for (const koord_pod& pod : pods) places.push_back({kube_qos(pod.kube_qos), plugin::view(pod.cgroup_dir)});
  return places;
}

}  // namespace koord::kube
