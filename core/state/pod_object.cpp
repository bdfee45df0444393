// SPDX-License-Identifier: Apache-2.0
#include "core/state/pod_object.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/base/timestamp.hpp"
#include "core/state/classes.hpp"
#include "core/state/objects.hpp"
#include "core/state/pod_resources.hpp"

namespace koord::state {
namespace {

constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";  // the uid of the static pod
constexpr std::string_view kHashAnnotation = "kubernetes.io/config.hash";
constexpr std::string_view kSourceAnnotation = "kubernetes.io/config.source";

constexpr JsonWanted kOwner[] = {{"controller"}, {"kind"}, {"name"}};
constexpr JsonWanted kMetadata[] = {{"annotations", {}, true},
                                    {"deletionTimestamp"},
                                    {"labels"},
                                    {"name"},
                                    {"namespace"},
                                    {"ownerReferences", kOwner},
                                    {"uid"}};
constexpr JsonWanted kResources[] = {{"limits"}, {"requests"}};
constexpr JsonWanted kContainer[] = {{"name"}, {"resources", kResources}, {"restartPolicy"}};
constexpr JsonWanted kClaim[] = {{"claimName"}};
constexpr JsonWanted kDriver[] = {{"driver"}};
constexpr JsonWanted kVolume[] = {
    {"csi", kDriver}, {"ephemeral", kDriver}, {"name"}, {"persistentVolumeClaim", kClaim}};
constexpr JsonWanted kSpec[] = {{"containers", kContainer},
                                {"ephemeralContainers", kContainer},
                                {"initContainers", kContainer},
                                {"nodeName"},
                                {"overhead"},
                                {"priority"},
                                {"resources", kResources},
                                {"volumes", kVolume}};
constexpr JsonWanted kContainerStatus[] = {
    {"allocatedResources"}, {"containerID"}, {"name"}, {"resources", kResources}, {"state"}};
constexpr JsonWanted kCondition[] = {{"reason"}, {"status"}, {"type"}};
constexpr JsonWanted kStatus[] = {{"conditions", kCondition},
                                  {"containerStatuses", kContainerStatus},
                                  {"ephemeralContainerStatuses", kContainerStatus},
                                  {"initContainerStatuses", kContainerStatus},
                                  {"phase"},
                                  {"qosClass"},
                                  {"resize"},
                                  {"startTime"}};
constexpr JsonWanted kPod[] = {{"kind"}, {"metadata", kMetadata}, {"spec", kSpec}, {"status", kStatus}};

// A copy of the whole object, as its author applied it. It is dropped to save memory.
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

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

Result<std::vector<Container>> read_containers(const Field& spec) {
  std::vector<Container> containers;
  for (const ContainerList& list : kContainerLists) {
    std::vector<Field> objects = TRY(spec[list.spec].list());
    for (const Field& object : objects) containers.push_back(TRY(read_container(object, list.kind)));
  }
  return containers;
}

// Reads the volumes that a CSI driver provides. Volumes of other kinds have no device of their own.
Result<std::vector<PodVolume>> read_volumes(const Field& spec, const std::string& pod_name) {
  std::vector<PodVolume> volumes;
  std::vector<Field> objects = TRY(spec["volumes"].list());
  for (const Field& object : objects) {
    PodVolume volume;
    volume.name = TRY(object["name"].required_text());
    const Field claim = object["persistentVolumeClaim"];
    if (!claim.empty()) volume.claim = TRY(claim["claimName"].required_text());
    if (!object["ephemeral"].empty()) volume.claim = pod_name + "-" + volume.name;
    if (!volume.claim.empty() || !object["csi"].empty()) volumes.push_back(std::move(volume));
  }
  return volumes;
}

// Reads the state of a resize in place: from the field `resize` before Kubernetes 1.33, from a condition since then.
Result<Resize> read_resize(const Field& status) {
  std::string answer = TRY(status["resize"].text());
  bool is_pending = answer == "Proposed" || answer == "Deferred" || answer == "Infeasible";
  std::vector<Field> conditions = TRY(status["conditions"].list());
  for (const Field& condition : conditions) {
    const std::string type = TRY(condition["type"].text()), state = TRY(condition["status"].text());
    if (type != "PodResizePending" || state == "False") continue;
    is_pending = true;
    answer = TRY(condition["reason"].text());
  }
  return Resize{.is_pending = is_pending, .is_infeasible = answer == "Infeasible"};
}

// Reads the status of one container. `resize`: the pod's state of a resize; the container's amounts are added.
Result<void> read_container_status(const Field& status, Resize resize, std::vector<Container>& containers) {
  std::string name = TRY(status["name"].required_text());
  auto container =
      std::find_if(containers.begin(), containers.end(), [&](const Container& c) { return c.name == name; });
  if (container == containers.end()) return {};  // a container of an older spec
  container->id = TRY(status["containerID"].text());
  container->state = state_of(status["state"]);
  resize.actual = TRY(read_resources(status["resources"]));
  resize.allocated = TRY(status["allocatedResources"].resources());
  apply_resize(resize, container->resources);
  return {};
}

Result<void> read_container_statuses(const Field& status, std::vector<Container>& containers) {
  const Resize resize = TRY(read_resize(status));
  for (const ContainerList& list : kContainerLists) {
    std::vector<Field> statuses = TRY(status[list.status].list());
    for (const Field& one : statuses) TRY(read_container_status(one, resize, containers));
  }
  return {};
}

// Fails for a name that is too long or has control characters. The API server accepts only DNS subdomains, but a file
// or a hostile kubelet may have any name, and names are used in records, reasons and file names.
Result<void> check_name(const Field& field, const std::string& name) {
  constexpr std::size_t kLongestName = 253;
  const bool has_control =
      std::any_of(name.begin(), name.end(), [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; });
  if (has_control) return field.wrong("a name has no control characters");
  if (name.size() > kLongestName)
    return field.wrong("found a name of " + std::to_string(name.size()) + " bytes, expected at most 253");
  return {};
}

Result<void> read_metadata(const Field& metadata, Pod& pod) {
  pod.uid = TRY(metadata["uid"].required_text());
  pod.name = TRY(metadata["name"].required_text());
  TRY(check_name(metadata["name"], pod.name));
  pod.namespace_ = TRY(metadata["namespace"].text());
  TRY(check_name(metadata["namespace"], pod.namespace_));
  if (pod.namespace_.empty()) pod.namespace_ = "default";
  pod.deleting = !metadata["deletionTimestamp"].empty();
  pod.labels = TRY(metadata["labels"].text_map());
  pod.annotations = TRY(metadata["annotations"].text_map());
  pod.annotations.erase(std::string(kLastApplied));
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
  if (priority < std::numeric_limits<std::int32_t>::min() || priority > std::numeric_limits<std::int32_t>::max())
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

std::string_view annotation_or_empty(const Pod& pod, std::string_view key) {
  const auto found = pod.annotations.find(key);
  return found == pod.annotations.end() ? std::string_view() : std::string_view(found->second);
}

// Returns whether a static pod may have this uid. For static pods, the kubelet uses an MD5 sum in hexadecimal digits.
bool is_static_uid(std::string_view uid) {
  constexpr std::size_t kDigits = 32;
  return uid.size() == kDigits && uid.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Returns whether this is a mirror pod. The annotation alone is not enough, because any client that may create pods may
// write it, and could claim the cgroup of a different pod.
bool is_mirror(const Pod& pod, std::string_view node) {
  const std::string_view source = annotation_or_empty(pod, kSourceAnnotation);
  const std::string_view uid = annotation_or_empty(pod, kMirrorAnnotation);
  return is_static_uid(uid) && annotation_or_empty(pod, kHashAnnotation) == uid &&
         (source == "file" || source == "http") && pod.owner_kind == "Node" && (node.empty() || pod.owner_name == node);
}

}  // namespace

const std::span<const JsonWanted> kWantedOfPod = kPod;

Result<void> place_in_cgroups(Pod& pod, const cgroup::KubeRoot& root, std::string_view node) {
  const std::string uid(is_mirror(pod, node) ? annotation_or_empty(pod, kMirrorAnnotation) : pod.uid);
  if (uid.find('/') != std::string::npos || !cgroup::is_cgroup(uid))
    return invalid("'" + uid + "' cannot be a directory's name");
  pod.cgroup_dir = cgroup::pod_dir(root, pod.kube_qos, uid);
  for (Container& container : pod.containers) {
    Result<std::string> dir = cgroup::container_dir(root.driver, pod.cgroup_dir, container.id);
    if (dir) container.cgroup_dir = *std::move(dir);
  }
  return {};
}

void drop_forged_source(Pod& pod, std::string_view node) {
  if (is_mirror(pod, node)) return;
  for (const std::string_view key : {kMirrorAnnotation, kHashAnnotation, kSourceAnnotation})
    if (const auto forged = pod.annotations.find(key); forged != pod.annotations.end()) pod.annotations.erase(forged);
}

Result<Pod> read_pod(const Field& object) {
  Pod pod;
  TRY(read_metadata(object["metadata"], pod));
  const Field spec = object["spec"], status = object["status"];
  pod.node = TRY(spec["nodeName"].text());
  TRY(read_priority(spec["priority"], pod));
  TRY(read_pod_status(status, pod));
  pod.containers = TRY(read_containers(spec));
  pod.volumes = TRY(read_volumes(spec, pod.name));
  const std::vector<Resource> stated = TRY(read_resources(spec["resources"]));
  const Amounts overhead = TRY(spec["overhead"].resources());
  if (pod.kube_qos == KubeQos::unknown) pod.kube_qos = kube_qos_of(pod.containers, stated);
  TRY(read_container_statuses(status, pod.containers));
  pod.resources = pod_resources(pod.containers, stated, overhead);
  pod.koord_qos = koord_qos(pod.labels, pod.kube_qos);
  pod.priority_class = priority_class(pod.labels, pod.priority, pod.koord_qos);
  return pod;
}

}  // namespace koord::state
