// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cgroup-reconcile/pod_inputs.hpp"

namespace koord::cgroup_reconcile {
namespace {

using plugin::Strided;
using plugin::view;

struct Amounts {
  std::int64_t request = 0;
  std::optional<std::int64_t> limit;
};

Amounts amounts_of(Strided<koord_resource> resources, std::uint32_t qos) {
  const std::string_view name = qos == KOORD_QOS_BE ? "kubernetes.io/batch-memory" : "memory";
  Amounts amounts;
  for (const koord_resource& resource : resources) {
    if (view(resource.name) != name) continue;
    if (resource.request > 0) amounts.request = resource.request;
    if (resource.limit > 0) amounts.limit = resource.limit;
  }
  return amounts;
}

bool runs_with_pod(const koord_container& container) {
  return container.kind == KOORD_CONTAINER_REGULAR || container.kind == KOORD_CONTAINER_SIDECAR;
}

PodInput pod_input(const koord_pod& pod) {
  PodInput input;
  input.name = std::string(view(pod.ns)) + "/" + std::string(view(pod.name));
  input.cgroup_dir = view(pod.cgroup_dir);
  input.has_spec = pod.ns.n > 0 || pod.n_resources > 0;  // a pod of the state source cgroup has no spec
  input.qos = pod.qos;
  input.kube_qos = pod.kube_qos;
  const Amounts amounts = amounts_of({pod.resources, pod.n_resources, pod.resource_stride}, pod.qos);
  input.request = amounts.request;
  input.limit = amounts.limit;
  if (const slo::Annotation annotation = slo::annotation_of(pod, slo::kMemoryQosAnnotation))
    input.annotation = *annotation;
  for (const koord_container& container : plugin::containers_of(pod)) {
    if (!runs_with_pod(container) || container.cgroup_dir.n == 0 || container.state == KOORD_CONTAINER_TERMINATED)
      continue;
    const Amounts own = amounts_of({container.resources, container.n_resources, container.resource_stride}, pod.qos);
    input.containers.push_back({std::string(view(container.cgroup_dir)), own.request, own.limit});
  }
  return input;
}

}  // namespace

Inputs inputs_of(const plugin::Snapshot& snapshot, std::int64_t page_size) {
  Inputs inputs;
  inputs.page_size = page_size;
  if (const koord_node* node = snapshot.node())
    for (const koord_resource& resource :
         Strided<koord_resource>(node->resources, node->n_resources, node->resource_stride))
      if (view(resource.name) == "memory" && resource.request > 0) inputs.allocatable = resource.request;
  for (const koord_pod& pod : snapshot.pods())
    if (pod.phase == KOORD_PHASE_PENDING || pod.phase == KOORD_PHASE_RUNNING) inputs.pods.push_back(pod_input(pod));
  return inputs;
}

}  // namespace koord::cgroup_reconcile
