// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-burst/burst_pods.hpp"

#include "plugins/shared/slo/pod_slo.hpp"

namespace koord::cpu_burst {
namespace {

using plugin::Strided;
using plugin::view;
using slo::annotation_of;
using slo::label_of;

bool is_active(const koord_pod& pod) { return pod.phase == KOORD_PHASE_PENDING || pod.phase == KOORD_PHASE_RUNNING; }

std::int64_t cpu_of(const koord_resource* resources, std::uint32_t n, std::uint32_t stride,
                    std::int64_t koord_resource::*which) {
  for (const koord_resource& resource : Strided<koord_resource>(resources, n, stride))
    if (view(resource.name) == "cpu" && resource.*which != KOORD_ABSENT) return resource.*which;
  return 0;
}

Container container_of(const koord_container& record) {
  Container container;
  container.handle = record.handle;
  container.id = view(record.id);
  container.name = view(record.name);
  container.cgroup_dir = view(record.cgroup_dir);
  container.is_running = record.state == KOORD_CONTAINER_RUNNING;
  container.limit_milli = cpu_of(record.resources, record.n_resources, record.resource_stride, &koord_resource::limit);
  return container;
}

Pod pod_of(const koord_pod& record, const slo::CpuBurst& node, std::vector<std::string>& problems) {
  Pod pod;
  pod.name = std::string(view(record.ns)) + "/" + std::string(view(record.name));
  pod.cgroup_dir = view(record.cgroup_dir);
  pod.limit_milli = cpu_of(record.resources, record.n_resources, record.resource_stride, &koord_resource::limit);
  slo::Problems of_annotation;
  pod.settings = cpu_burst_of(node, annotation_of(record, slo::kCpuBurstAnnotation), of_annotation);
  for (const std::string& problem : of_annotation) problems.push_back("pod " + pod.name + ": " + problem);
  for (const koord_container& container : plugin::containers_of(record))
    if (container.kind == KOORD_CONTAINER_REGULAR || container.kind == KOORD_CONTAINER_SIDECAR)
      pod.containers.push_back(container_of(container));
  return pod;
}

}  // namespace

Snapshot snapshot_of(Strided<koord_pod> pods, const slo::CpuBurst& node) {
  Snapshot snapshot;
  for (const koord_pod& pod : pods) {
    if (!is_active(pod)) continue;
    const std::string_view label = label_of(pod, slo::kQosLabel).value_or("");
    const bool has_cpus = label == "LSE" || label == "LSR";
    if (has_cpus)
      snapshot.exclusive_cores +=
          static_cast<double>(cpu_of(pod.resources, pod.n_resources, pod.resource_stride, &koord_resource::request)) /
          1000;
    if (has_cpus || pod.qos == KOORD_QOS_BE)
      snapshot.outside.push_back(pod.handle);
    else
      snapshot.pods.push_back(pod_of(pod, node, snapshot.problems));
  }
  return snapshot;
}

double cores_of(const koord_topology* topology) {
  double cores = 0;
  if (topology)
    for (const koord_cpu& cpu : Strided<koord_cpu>(topology->cpus, topology->n_cpus, topology->cpu_stride))
      cores += (cpu.flags & KOORD_CPU_ONLINE) != 0;
  return cores;
}

}  // namespace koord::cpu_burst
