// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <utility>

#include "core/hook/nri/wire.hpp"

namespace koord::nri {
namespace {

// Reads an optional number. In requests zero means unset.
template <class Number>
void read_set(Reader& in, std::optional<Number>& value) {
  in.read_wrapped(value);
  if (value == Number{}) value.reset();
}

void read_annotations(Reader& in, TextMap& annotations, const KeepAnnotation& keep) {
  if (keep)
    in.read(annotations, keep);
  else
    in.read(annotations);
}

void read_memory(Reader& in, Resources& resources) {
  while (in.next()) {
    if (in.field() == 1) read_set(in, resources.memory_limit_bytes);
    if (in.field() == 3) read_set(in, resources.memory_swap_bytes);
  }
}

void read_cpu(Reader& in, Resources& resources) {
  while (in.next()) {
    if (in.field() == 1) read_set(in, resources.cpu_shares);
    if (in.field() == 2) read_set(in, resources.cpu_quota_us);
    if (in.field() == 3) read_set(in, resources.cpu_period_us);
    if (in.field() == 6) in.read(resources.cpus);
    if (in.field() == 7) in.read(resources.mems);
  }
}

void read(Reader& in, Resources& resources) {
  while (in.next()) {
    if (in.field() == 1) in.message([&](Reader& memory) { read_memory(memory, resources); });
    if (in.field() == 2) in.message([&](Reader& cpu) { read_cpu(cpu, resources); });
    if (in.field() == 5) in.read_wrapped(resources.rdt_class);
    if (in.field() == 6) in.read(resources.unified);
  }
}

void read(Reader& in, Mount& mount) {
  while (in.next()) {
    if (in.field() == 1) in.read(mount.destination);
    if (in.field() == 2) in.read(mount.type);
    if (in.field() == 3) in.read(mount.source);
    if (in.field() == 4) in.read(mount.options);
  }
}

void read(Reader& in, Device& device) {
  while (in.next()) {
    if (in.field() == 1) in.read(device.path);
    if (in.field() == 2) in.read(device.type);
    if (in.field() == 3) device.major = in.int64();
    if (in.field() == 4) device.minor = in.int64();
    if (in.field() == 5) in.read_wrapped(device.file_mode);
    if (in.field() == 6) in.read_wrapped(device.uid);
    if (in.field() == 7) in.read_wrapped(device.gid);
  }
}

void read_linux(Reader& in, Pod& pod) {
  while (in.next()) {
    if (in.field() == 1) in.message([&](Reader& inner) { read(inner, pod.overhead); });
    if (in.field() == 2) in.message([&](Reader& inner) { read(inner, pod.pod_resources); });
    if (in.field() == 3) in.read(pod.cgroup_parent);
    if (in.field() == 4) in.read(pod.cgroups_path);
    if (in.field() == 6) in.message([&](Reader& inner) { read(inner, pod.resources); });
  }
}

void read_linux(Reader& in, Container& container) {
  while (in.next()) {
    if (in.field() == 2) in.message(container.devices, [](Reader& inner, Device& device) { read(inner, device); });
    if (in.field() == 3) in.message([&](Reader& inner) { read(inner, container.resources); });
    if (in.field() == 4) in.read_wrapped(container.oom_score_adj);
    if (in.field() == 5) in.read(container.cgroups_path);
  }
}

void read(Reader& in, Pod& pod, const KeepAnnotation& keep) {
  while (in.next()) {
    if (in.field() == 1) in.read(pod.id);
    if (in.field() == 2) in.read(pod.name);
    if (in.field() == 3) in.read(pod.uid);
    if (in.field() == 4) in.read(pod.namespace_name);
    if (in.field() == 5) in.read(pod.labels);
    if (in.field() == 6) read_annotations(in, pod.annotations, keep);
    if (in.field() == 7) in.read(pod.runtime_handler);
    if (in.field() == 8) in.message([&](Reader& inner) { read_linux(inner, pod); });
    if (in.field() == 9) pod.pid = in.uint32();
    if (in.field() == 10) in.read(pod.ips);
  }
}

ContainerState container_state(std::int32_t number) {
  if (number < 0 || number > static_cast<std::int32_t>(ContainerState::stopped)) return ContainerState::unknown;
  return static_cast<ContainerState>(number);
}

void read(Reader& in, Container& container, const KeepAnnotation& keep) {
  while (in.next()) {
    if (in.field() == 1) in.read(container.id);
    if (in.field() == 2) in.read(container.pod_id);
    if (in.field() == 3) in.read(container.name);
    if (in.field() == 4) container.state = container_state(in.int32());
    if (in.field() == 5) in.read(container.labels);
    if (in.field() == 6) read_annotations(in, container.annotations, keep);
    if (in.field() == 7) in.read(container.args);
    if (in.field() == 8) in.read(container.env);
    if (in.field() == 9) in.message(container.mounts, [](Reader& inner, Mount& mount) { read(inner, mount); });
    if (in.field() == 11) in.message([&](Reader& inner) { read_linux(inner, container); });
    if (in.field() == 12) container.pid = in.uint32();
  }
}

void read_pod(Reader& in, EventRequest& request, const KeepAnnotation& keep) {
  in.message([&](Reader& inner) { read(inner, request.pod, keep); });
}

void read_container(Reader& in, EventRequest& request, const KeepAnnotation& keep) {
  in.message([&](Reader& inner) { read(inner, request.container, keep); });
}

// Returns whether field 2 is the container. In UpdatePodSandbox it is the overhead of the pod.
bool has_container(Stage stage) { return stage != Stage::update_pod_sandbox; }

}  // namespace

Result<ConfigureRequest> read_configure(std::string_view bytes) {
  Budget budget;
  Reader in(bytes, budget);
  ConfigureRequest request;
  while (in.next()) {
    if (in.field() == 2) in.read(request.runtime.name);
    if (in.field() == 3) in.read(request.runtime.version);
    if (in.field() == 4) request.registration_timeout = std::chrono::milliseconds(in.uint32());
    if (in.field() == 5) request.request_timeout = std::chrono::milliseconds(in.uint32());
    if (in.field() == 6) in.read(request.runtime.nri_version);
  }
  TRY(in.finish("ConfigureRequest"));
  return request;
}

Result<SynchronizeRequest> read_synchronize(std::string_view bytes, const KeepAnnotation& keep) {
  Budget budget;
  Reader in(bytes, budget);
  SynchronizeRequest request;
  while (in.next()) {
    if (in.field() == 1 && request.pods.size() == kMostPods)
      return invalid("Synchronize has more than " + std::to_string(kMostPods) + " pods");
    if (in.field() == 2 && request.containers.size() == kMostContainers)
      return invalid("Synchronize has more than " + std::to_string(kMostContainers) + " containers");
    if (in.field() == 1) in.message(request.pods, [&](Reader& inner, Pod& pod) { read(inner, pod, keep); });
    if (in.field() == 2)
      in.message(request.containers, [&](Reader& inner, Container& each) { read(inner, each, keep); });
    if (in.field() == 3) request.more = in.boolean();
  }
  TRY(in.finish("SynchronizeRequest"));
  return request;
}

Result<EventRequest> read_event(Stage stage, std::string_view bytes, const KeepAnnotation& keep) {
  Budget budget;
  Reader in(bytes, budget);
  EventRequest request{.stage = stage};
  while (in.next()) {
    if (in.field() == 1) read_pod(in, request, keep);
    if (in.field() == 2 && has_container(stage)) read_container(in, request, keep);
    if (in.field() == 3) in.message([&](Reader& inner) { read(inner, request.resources); });
  }
  TRY(in.finish(std::string(to_string(stage)) + "Request"));
  return request;
}

Result<EventRequest> read_state_change(std::string_view bytes, const KeepAnnotation& keep) {
  Budget budget;
  Reader in(bytes, budget);
  EventRequest request;
  std::int32_t event = 0;
  while (in.next()) {
    if (in.field() == 1) event = in.int32();
    if (in.field() == 2) read_pod(in, request, keep);
    if (in.field() == 3) read_container(in, request, keep);
  }
  TRY(in.finish("StateChangeEvent"));
  const auto stage = stage_of_event(event);
  if (!stage) return invalid("StateChangeEvent: event " + std::to_string(event) + " is unknown");
  request.stage = *stage;
  return request;
}

Result<std::vector<std::string>> read_failed_updates(std::string_view bytes) {
  Budget budget;
  Reader in(bytes, budget);
  std::vector<std::string> ids;
  while (in.next()) {
    if (in.field() != 1) continue;
    in.message(ids, [](Reader& update, std::string& id) {
      while (update.next())
        if (update.field() == 1) update.read(id);
    });
  }
  TRY(in.finish("UpdateContainersResponse"));
  return ids;
}

}  // namespace koord::nri
