// SPDX-License-Identifier: Apache-2.0
#include "core/state/pod_object.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "core/state/classes.hpp"
#include "core/state/objects.hpp"

namespace koord::state {
namespace {

// A mirror pod in the API server has a uid of its own; its cgroup has that of the static pod.
constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";

Phase phase_of(std::string_view name) {
  for (Phase phase : {Phase::pending, Phase::running, Phase::succeeded, Phase::failed}) {
    if (name_of(phase) == name) return phase;
  }
  return Phase::unknown;
}

KubeQos kube_qos_of_name(std::string_view name) {
  for (KubeQos qos : {KubeQos::guaranteed, KubeQos::burstable, KubeQos::best_effort}) {
    if (name_of(qos) == name) return qos;
  }
  return KubeQos::unknown;
}

Result<std::vector<Resource>> read_resources(const Field& field) {
  auto requests = TRY(field["requests"].resources());
  auto limits = TRY(field["limits"].resources());
  std::vector<Resource> resources;
  for (const auto& [name, amount] : limits) resources.push_back({name, kNoResource, amount});
  for (const auto& request : requests) {
    auto known = std::find_if(resources.begin(), resources.end(),
                              [&](const Resource& r) { return r.name == request.first; });
    if (known == resources.end()) known = resources.insert(known, {request.first, kNoResource, kNoResource});
    known->request = request.second;
  }
  std::sort(resources.begin(), resources.end(),
            [](const Resource& a, const Resource& b) { return a.name < b.name; });
  return resources;
}

struct ContainerList {
  std::string_view spec;
  std::string_view status;
  ContainerKind kind;
};
constexpr std::array<ContainerList, 3> kContainerLists{{
    {"initContainers", "initContainerStatuses", ContainerKind::init},
    {"containers", "containerStatuses", ContainerKind::regular},
    {"ephemeralContainers", "ephemeralContainerStatuses", ContainerKind::ephemeral},
}};

ContainerState state_of(const Field& state) {
  if (!state["running"].empty()) return ContainerState::running;
  if (!state["terminated"].empty()) return ContainerState::terminated;
  if (!state["waiting"].empty()) return ContainerState::waiting;
  return ContainerState::unknown;
}

Result<Container> read_container(const Field& object, ContainerKind kind) {
  Container container;
  container.name = TRY(object["name"].required_text());
  std::string restart_policy = TRY(object["restartPolicy"].text());
  bool sidecar = kind == ContainerKind::init && restart_policy == "Always";
  container.kind = sidecar ? ContainerKind::sidecar : kind;
  container.resources = TRY(read_resources(object["resources"]));
  return container;
}

Result<void> read_status(const Field& status, std::vector<Container>& containers) {
  std::string name = TRY(status["name"].required_text());
  auto container =
      std::find_if(containers.begin(), containers.end(), [&](const Container& c) { return c.name == name; });
  if (container == containers.end()) return {};  // of an older spec
  container->id = TRY(status["containerID"].text());
  container->state = state_of(status["state"]);
  return {};
}

Result<std::vector<Container>> read_containers(const Field& pod) {
  std::vector<Container> containers;
  for (const ContainerList& list : kContainerLists) {
    std::vector<Field> specs = TRY(pod["spec"][list.spec].list());
    for (const Field& spec : specs) containers.push_back(TRY(read_container(spec, list.kind)));
    std::vector<Field> statuses = TRY(pod["status"][list.status].list());
    for (const Field& status : statuses) TRY(read_status(status, containers));
  }
  return containers;
}

Result<void> read_metadata(const Field& metadata, Pod& pod) {
  pod.uid = TRY(metadata["uid"].required_text());
  pod.name = TRY(metadata["name"].required_text());
  pod.namespace_ = TRY(metadata["namespace"].text());
  if (pod.namespace_.empty()) pod.namespace_ = "default";
  pod.deleting = !metadata["deletionTimestamp"].empty();
  pod.labels = TRY(metadata["labels"].text_map());
  pod.annotations = TRY(metadata["annotations"].text_map());
  std::vector<Field> owners = TRY(metadata["ownerReferences"].list());
  for (const Field& owner : owners) {
    bool controls = owner["controller"].json() == "true";
    if (!controls && !pod.owner_kind.empty()) continue;
    pod.owner_kind = TRY(owner["kind"].text());
    pod.owner_name = TRY(owner["name"].text());
    if (controls) break;
  }
  return {};
}

Result<void> read_priority(const Field& field, Pod& pod) {
  std::int64_t priority = TRY(field.integer(0));
  if (priority < std::numeric_limits<std::int32_t>::min() ||
      priority > std::numeric_limits<std::int32_t>::max())
    return field.wrong("'" + std::to_string(priority) + "' is out of range");
  pod.priority = static_cast<std::int32_t>(priority);
  return {};
}

Result<void> read_pod_status(const Field& status, Pod& pod) {
  pod.phase = phase_of(TRY(status["phase"].text()));
  pod.kube_qos = kube_qos_of_name(TRY(status["qosClass"].text()));
  std::string start = TRY(status["startTime"].text());
  if (start.empty()) return {};
  Result<std::int64_t> start_time = parse_timestamp(start);
  if (!start_time) return status["startTime"].wrong(start_time.error().text);
  pod.start_time_ns = *start_time;
  return {};
}

// A uid or id that would lead out of the kubelet's directory is refused; an id of an unknown runtime has no
// directory.
Result<void> place_in_cgroups(const Field& object, const cgroup::KubeRoot& root, Pod& pod) {
  auto mirror = pod.annotations.find(kMirrorAnnotation);
  const std::string& uid = mirror == pod.annotations.end() ? pod.uid : mirror->second;
  if (uid.find('/') != std::string::npos || !cgroup::is_cgroup(uid))
    return object["metadata"]["uid"].wrong("'" + uid + "' cannot be a directory's name");
  pod.cgroup_dir = cgroup::pod_dir(root, pod.kube_qos, uid);
  for (Container& container : pod.containers) {
    Result<std::string> dir = cgroup::container_dir(root.driver, pod.cgroup_dir, container.id);
    if (dir) container.cgroup_dir = *std::move(dir);
  }
  return {};
}

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::int64_t add(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? kMost : sum;
}

Resource find_resource(const std::vector<Resource>& resources, const std::string& name) {
  auto found =
      std::find_if(resources.begin(), resources.end(), [&](const Resource& r) { return r.name == name; });
  if (found == resources.end()) return {name, kNoResource, kNoResource};
  Resource resource = *found;
  if (resource.request == kNoResource) resource.request = resource.limit;  // as the API server defaults it
  return resource;
}

// Sidecars run beside every init container after them and beside the pod's containers.
Resource sum_resource(const std::vector<Container>& containers, const std::string& name) {
  std::int64_t running = 0, starting = 0, limits = 0;
  bool any = false, unlimited = false;
  for (const Container& container : containers) {
    if (container.kind == ContainerKind::ephemeral) continue;
    Resource resource = find_resource(container.resources, name);
    any = any || resource.request != kNoResource;
    std::int64_t request = std::max<std::int64_t>(resource.request, 0);
    if (container.kind == ContainerKind::init) {
      starting = std::max(starting, add(running, request));
      continue;
    }
    running = add(running, request);
    unlimited = unlimited || resource.limit == kNoResource;
    limits = add(limits, std::max<std::int64_t>(resource.limit, 0));
  }
  return {name, any ? std::max(running, starting) : kNoResource, unlimited ? kNoResource : limits};
}

// What the pod itself costs, and what it states for all its containers together.
Result<void> read_pod_resources(const Field& spec, Pod& pod) {
  pod.resources = sum_resources(pod.containers);
  std::vector<Resource> stated = TRY(read_resources(spec["resources"]));
  auto overhead = TRY(spec["overhead"].resources());
  for (Resource& resource : pod.resources) {
    Resource over = find_resource(stated, resource.name);
    if (over.request != kNoResource) resource.request = over.request;
    if (over.limit != kNoResource) resource.limit = over.limit;
    auto extra = overhead.find(resource.name);
    if (extra == overhead.end()) continue;
    if (resource.request != kNoResource) resource.request = add(resource.request, extra->second);
    if (resource.limit != kNoResource) resource.limit = add(resource.limit, extra->second);
  }
  return {};
}

}  // namespace

std::vector<Resource> sum_resources(const std::vector<Container>& containers) {
  std::set<std::string> names;
  for (const Container& container : containers) {
    for (const Resource& resource : container.resources) names.insert(resource.name);
  }
  std::vector<Resource> sums;
  for (const std::string& name : names) sums.push_back(sum_resource(containers, name));
  return sums;
}

Result<Pod> read_pod(const Field& object, const cgroup::KubeRoot& root) {
  Pod pod;
  TRY(read_metadata(object["metadata"], pod));
  TRY(read_priority(object["spec"]["priority"], pod));
  TRY(read_pod_status(object["status"], pod));
  pod.containers = TRY(read_containers(object));
  TRY(read_pod_resources(object["spec"], pod));
  if (pod.kube_qos == KubeQos::unknown) pod.kube_qos = kube_qos_of(pod.containers);
  pod.koord_qos = koord_qos(pod.labels, pod.kube_qos);
  pod.priority_class = priority_class(pod.labels, pod.priority, pod.koord_qos);
  TRY(place_in_cgroups(object, root, pod));
  return pod;
}

}  // namespace koord::state
