// SPDX-License-Identifier: Apache-2.0
#include "core/service/snapshot_view.hpp"

#include <algorithm>
#include <set>

#include "core/service/arguments.hpp"

namespace koord::service {
namespace {

// The enumerations of core/state have the same values as the enumerations of the ABI, so that a record is a plain copy.
static_assert(static_cast<unsigned>(state::KoordQos::system) == KOORD_QOS_SYSTEM);
static_assert(static_cast<unsigned>(state::KubeQos::best_effort) == KOORD_KUBE_QOS_BEST_EFFORT);
static_assert(static_cast<unsigned>(state::PriorityClass::free) == KOORD_PRIORITY_FREE);
static_assert(static_cast<unsigned>(state::Phase::failed) == KOORD_PHASE_FAILED);
static_assert(static_cast<unsigned>(state::ContainerKind::cgroup) == KOORD_CONTAINER_CGROUP);
static_assert(static_cast<unsigned>(state::ContainerState::terminated) == KOORD_CONTAINER_TERMINATED);
static_assert(state::kNode == KOORD_ON_NODE && state::kPods == KOORD_ON_PODS);
static_assert(state::kNodeSlo == KOORD_ON_NODE_SLO && state::kTopology == KOORD_ON_TOPOLOGY);

template <class Enum>
std::uint32_t number(Enum value) {
  return static_cast<std::uint32_t>(value);
}

template <class Container>
std::uint32_t count(const Container& container) {
  return static_cast<std::uint32_t>(container.size());
}

std::int64_t quantity(std::int64_t amount) { return amount == state::kNoResource ? KOORD_ABSENT : amount; }

koord_resource resource_record(std::string_view name, std::int64_t request, std::int64_t limit) {
  return {sizeof(koord_resource), 0, to_abi(name), quantity(request), quantity(limit)};
}

// Converts -1, which kernel files use for "unknown", to UINT32_MAX.
std::uint32_t topology_id(std::int32_t id) { return static_cast<std::uint32_t>(id); }

std::uint32_t flags_of(const state::Cpu& cpu, const state::CpuOwners* owners) {
  std::uint32_t flags = (cpu.online ? KOORD_CPU_ONLINE : 0u) | (cpu.reserved ? KOORD_CPU_RESERVED : 0u);
  if (owners == nullptr) return flags;
  const auto number = static_cast<unsigned>(cpu.cpu);
  if (owners->reserved.contains(number)) flags |= KOORD_CPU_RESERVED;
  if (owners->system_exclusive && owners->system.contains(number)) flags |= KOORD_CPU_SYSTEM;
  if (owners->lse.contains(number)) flags |= KOORD_CPU_LSE;
  if (owners->lsr.contains(number)) flags |= KOORD_CPU_LSR;
  if (owners->pinned.contains(number)) flags |= KOORD_CPU_PINNED;
  return flags;
}

std::set<std::string_view> resource_names(const state::Node& node) {
  std::set<std::string_view> names;
  for (const auto& [name, amount] : node.capacity) names.insert(name);
  for (const auto& [name, amount] : node.allocatable) names.insert(name);
  return names;
}

template <class Map>
std::int64_t amount_of(const Map& amounts, std::string_view name) {
  auto found = amounts.find(name);
  return found == amounts.end() ? state::kNoResource : found->second;
}

void add_container_labels(metric::Labels& labels, const state::Container& container) {
  labels.emplace_back("container_id", container.id);
  labels.emplace_back("container_name", container.name);
}

void add_pod_labels(metric::Labels& labels, const state::Pod& pod) {
  labels.emplace_back("pod_uid", pod.uid);
  labels.emplace_back("pod_name", pod.name);
  labels.emplace_back("pod_namespace", pod.namespace_);
}

}  // namespace

SnapshotView::SnapshotView(state::SnapshotPtr snapshot) : snapshot_(std::move(snapshot)) {
  reserve();
  build_node();
  build_pods();
  build_topology();
  index_subjects();
}

bool SnapshotView::knows_anything() const {
  const state::Versions& versions = snapshot_->versions;
  return versions.node || versions.pods || versions.node_slo || versions.topology;
}

std::uint64_t SnapshotView::version(std::uint32_t part) const {
  switch (part) {
    case KOORD_ON_NODE:
      return snapshot_->versions.node;
    case KOORD_ON_PODS:
      return snapshot_->versions.pods;
    case KOORD_ON_NODE_SLO:
      return snapshot_->versions.node_slo;
    case KOORD_ON_TOPOLOGY:
      return snapshot_->versions.topology;
    default:
      return 0;
  }
}

koord_str SnapshotView::node_slo() const { return to_abi(snapshot_->node_slo); }

void SnapshotView::reserve() {
  std::size_t labels = snapshot_->node.labels.size() + snapshot_->node.annotations.size();
  std::size_t resources = snapshot_->node.capacity.size() + snapshot_->node.allocatable.size();
  std::size_t containers = 0;
  for (const state::Container& container : snapshot_->standalone) resources += container.resources.size();
  for (const state::Pod& pod : snapshot_->pods) {
    labels += pod.labels.size() + pod.annotations.size();
    resources += pod.resources.size();
    containers += pod.containers.size();
    for (const state::Container& container : pod.containers) resources += container.resources.size();
  }
  labels_.reserve(labels);
  resources_.reserve(resources);
  containers_.reserve(containers);
  standalone_.reserve(snapshot_->standalone.size());
  pods_.reserve(snapshot_->pods.size());
}

void SnapshotView::build_node() {
  const state::Node& node = snapshot_->node;
  node_.struct_size = sizeof node_;
  node_.name = to_abi(node.name);
  node_.labels = add(node.labels);
  node_.n_labels = count(node.labels);
  node_.annotations = add(node.annotations);
  node_.n_annotations = count(node.annotations);
  node_.label_stride = sizeof(koord_label);
  node_.resources = resources_.data() + resources_.size();
  for (std::string_view name : resource_names(node)) {
    resources_.push_back(resource_record(name, amount_of(node.allocatable, name), amount_of(node.capacity, name)));
    ++node_.n_resources;
  }
  node_.resource_stride = sizeof(koord_resource);
  const state::CpuOwners* owners = snapshot_->cpu_owners.get();
  node_.reserved_cpu = owners ? owners->reserved_cpu_milli.value_or(KOORD_ABSENT) : KOORD_ABSENT;
  node_.reserved_memory = owners ? owners->reserved_memory_bytes.value_or(KOORD_ABSENT) : KOORD_ABSENT;
}

void SnapshotView::build_pods() {
  for (const state::Pod& pod : snapshot_->pods) pods_.push_back(record(pod));
  for (const state::Container& container : snapshot_->standalone) standalone_.push_back(record(container));
}

koord_pod SnapshotView::record(const state::Pod& pod) {
  koord_pod out = {};
  out.struct_size = sizeof out;
  out.phase = number(pod.phase);
  out.handle = pod.handle;
  out.uid = to_abi(pod.uid);
  out.ns = to_abi(pod.namespace_);
  out.name = to_abi(pod.name);
  out.cgroup_dir = to_abi(pod.cgroup_dir);
  out.qos = number(pod.koord_qos);
  out.kube_qos = number(pod.kube_qos);
  out.priority = pod.priority;
  out.priority_class = number(pod.priority_class);
  out.start_time_ns = pod.start_time_ns == 0 ? KOORD_ABSENT : pod.start_time_ns;
  out.owner_kind = to_abi(pod.owner_kind);
  out.owner_name = to_abi(pod.owner_name);
  out.labels = add(pod.labels);
  out.n_labels = count(pod.labels);
  out.annotations = add(pod.annotations);
  out.n_annotations = count(pod.annotations);
  out.label_stride = sizeof(koord_label);
  out.resources = add(pod.resources);
  out.n_resources = count(pod.resources);
  out.resource_stride = sizeof(koord_resource);
  out.containers = containers_.data() + containers_.size();
  for (const state::Container& container : pod.containers) containers_.push_back(record(container));
  out.n_containers = count(pod.containers);
  out.container_stride = sizeof(koord_container);
  return out;
}

koord_container SnapshotView::record(const state::Container& container) {
  koord_container out = {};
  out.struct_size = sizeof out;
  out.kind = number(container.kind);
  out.state = number(container.state);
  out.handle = container.handle;
  out.id = to_abi(container.id);
  out.name = to_abi(container.name);
  out.cgroup_dir = to_abi(container.cgroup_dir);
  out.resources = add(container.resources);
  out.n_resources = count(container.resources);
  out.resource_stride = sizeof(koord_resource);
  return out;
}

const koord_label* SnapshotView::add(const state::StringMap& labels) {
  const koord_label* first = labels_.data() + labels_.size();
  for (const auto& [key, value] : labels) labels_.push_back({to_abi(key), to_abi(value)});
  return first;
}

const koord_resource* SnapshotView::add(const std::vector<state::Resource>& resources) {
  const koord_resource* first = resources_.data() + resources_.size();
  for (const state::Resource& resource : resources)
    resources_.push_back(resource_record(resource.name, resource.request, resource.limit));
  return first;
}

void SnapshotView::build_topology() {
  for (const state::Cpu& cpu : snapshot_->topology.cpus) {
    cpus_.push_back({topology_id(cpu.cpu), topology_id(cpu.core), topology_id(cpu.socket), topology_id(cpu.numa_node),
                     topology_id(cpu.l3), flags_of(cpu, snapshot_->cpu_owners.get())});
  }
  for (const state::NumaNode& node : snapshot_->topology.numa_nodes)
    numa_nodes_.push_back({topology_id(node.id), 0, static_cast<std::uint64_t>(node.memory_bytes)});
  topology_ = {
      sizeof topology_,       0, cpus_.data(), numa_nodes_.data(), count(cpus_), sizeof(koord_cpu), count(numa_nodes_),
      sizeof(koord_numa_node)};
}

void SnapshotView::index_subjects() {
  for (const state::Pod& pod : snapshot_->pods) {
    living_.push_back({pod.handle, &pod, nullptr});
    for (const state::Container& container : pod.containers) living_.push_back({container.handle, &pod, &container});
  }
  for (const state::Container& container : snapshot_->standalone)
    living_.push_back({container.handle, nullptr, &container});
  std::sort(living_.begin(), living_.end(), [](const Living& a, const Living& b) { return a.handle < b.handle; });
}

const SnapshotView::Living* SnapshotView::find_living(std::uint64_t handle) const {
  auto found = std::lower_bound(living_.begin(), living_.end(), handle,
                                [](const Living& living, std::uint64_t wanted) { return living.handle < wanted; });
  return found == living_.end() || found->handle != handle ? nullptr : &*found;
}

std::optional<std::string_view> SnapshotView::cgroup_of(std::uint64_t handle) const {
  const Living* found = find_living(handle);
  if (!found) return std::nullopt;
  return found->container ? std::string_view(found->container->cgroup_dir) : std::string_view(found->pod->cgroup_dir);
}

std::optional<metric::Subject> SnapshotView::subject(std::uint64_t handle) const {
  const Living* found = find_living(handle);
  if (!found) return std::nullopt;
  metric::Subject subject{handle, {}};
  if (found->container) add_container_labels(subject.labels, *found->container);
  if (found->pod) add_pod_labels(subject.labels, *found->pod);
  return subject;
}

SnapshotViewPtr SnapshotViews::of(state::SnapshotPtr snapshot) {
  std::lock_guard lock(mutex_);
  if (!newest_ || &newest_->snapshot() != snapshot.get())
    newest_ = std::make_shared<const SnapshotView>(std::move(snapshot));
  return newest_;
}

}  // namespace koord::service
