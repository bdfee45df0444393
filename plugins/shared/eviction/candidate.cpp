// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/eviction/candidate.hpp"

#include <algorithm>

#include "core/base/saturating.hpp"
#include "koordetector/plugin.hpp"
#include "plugins/shared/slo/pod_slo.hpp"

namespace koord::eviction {
namespace {

using plugin::Strided;
using plugin::view;
using slo::annotation_of;
using slo::label_of;

std::int64_t request_named(const Strided<koord_resource>& resources, std::string_view name) {
  for (const koord_resource& resource : resources)
    if (view(resource.name) == name)
      return resource.request == KOORD_ABSENT ? 0 : std::max<std::int64_t>(resource.request, 0);
  return 0;
}

// Returns whether the container runs at the same time as the other containers. Init containers end before other
// containers start.
bool runs_beside_others(const koord_container& container) {
  return container.kind == KOORD_CONTAINER_REGULAR || container.kind == KOORD_CONTAINER_SIDECAR;
}

std::int64_t sum_of_containers(const koord_pod& pod, std::string_view name) {
  std::int64_t sum = 0;
  for (const koord_container& container : plugin::containers_of(pod)) {
    if (!runs_beside_others(container)) continue;
    const Strided<koord_resource> resources(container.resources, container.n_resources, container.resource_stride);
    sum = saturating_sum(sum, request_named(resources, name));
  }
  return sum;
}

Requests requests_of(const koord_pod& pod, Resource resource) {
  const Strided<koord_resource> of_pod(pod.resources, pod.n_resources, pod.resource_stride);
  return {request_named(of_pod, name_of(resource, Tier::native)), sum_of_containers(pod, name_of(resource, Tier::mid)),
          sum_of_containers(pod, name_of(resource, Tier::batch))};
}

}  // namespace

std::string_view name_of(Resource resource, Tier tier) {
  const bool cpu = resource == Resource::cpu;
  switch (tier) {
    case Tier::mid:
      return cpu ? "kubernetes.io/mid-cpu" : "kubernetes.io/mid-memory";
    case Tier::batch:
      return cpu ? "kubernetes.io/batch-cpu" : "kubernetes.io/batch-memory";
    case Tier::native:
      break;
  }
  return cpu ? "cpu" : "memory";
}

std::int64_t Requests::of(Tier tier) const {
  switch (tier) {
    case Tier::mid:
      return mid;
    case Tier::batch:
      return batch;
    case Tier::native:
      break;
  }
  return native;
}

std::int32_t default_priority(std::uint32_t priority_class) {
  switch (priority_class) {
    case KOORD_PRIORITY_PROD:
      return 9500;
    case KOORD_PRIORITY_MID:
      return 7500;
    case KOORD_PRIORITY_BATCH:
      return 5500;
    case KOORD_PRIORITY_FREE:
      return 3500;
    default:
      return 0;
  }
}

Tier tier_of(std::uint32_t priority_class) {
  if (priority_class == KOORD_PRIORITY_MID) return Tier::mid;
  return priority_class == KOORD_PRIORITY_BATCH ? Tier::batch : Tier::native;
}

std::int64_t requested(const Candidate& pod, Resource resource) {
  return pod.requests(resource).of(tier_of(pod.priority_class));
}

Candidate candidate_of(const koord_pod& pod) {
  Candidate candidate;
  candidate.handle = pod.handle;
  candidate.name = std::string(view(pod.ns)) + "/" + std::string(view(pod.name));
  candidate.is_active = pod.phase == KOORD_PHASE_PENDING || pod.phase == KOORD_PHASE_RUNNING;
  candidate.is_best_effort = label_of(pod, slo::kQosLabel) == "BE";
  candidate.priority_class = pod.priority_class;
  candidate.priority = pod.priority != 0 ? pod.priority : default_priority(pod.priority_class);
  candidate.sub_priority = sub_priority_of(label_of(pod, kSubPriorityLabel).value_or("")).value_or(candidate.priority);
  candidate.order = order_of(annotation_of(pod, kOrderAnnotation).value_or(""));
  candidate.is_enabled = label_of(pod, kEnabledLabel) == "true";
  if (const auto policy = annotation_of(pod, kPolicyAnnotation)) candidate.policy = Policy(*policy);
  candidate.cpu = requests_of(pod, Resource::cpu);
  candidate.memory = requests_of(pod, Resource::memory);
  return candidate;
}

}  // namespace koord::eviction
