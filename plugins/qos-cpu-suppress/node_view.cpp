// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-suppress/node_view.hpp"

#include <algorithm>
#include <utility>

#include "core/base/parse.hpp"
#include "core/cgroup/names.hpp"
#include "koordetector/subjects.hpp"
#include "plugins/qos-cpu-suppress/best_effort_applications.hpp"
#include "plugins/shared/node/pod_places.hpp"
#include "plugins/shared/slo/pod_slo.hpp"

namespace koord::cpu_suppress {
namespace {

using plugin::Failure;
using plugin::Strided;
using plugin::view;

constexpr std::uint64_t kExclusivePeriodNs = 10'000'000'000;  // a file per container, which rarely changes

// Returns whether the pod is best-effort. Pods of the kubelet's BestEffort class share its cgroup, whatever their
// label. Elsewhere, where a file names cgroups, the class only means that there are no requests, so the label decides.
bool is_best_effort(const koord_pod& pod, bool is_in_class) {
  return pod.qos == KOORD_QOS_BE || (pod.kube_qos == KOORD_KUBE_QOS_BEST_EFFORT && is_in_class);
}

bool has_ended(const koord_pod& pod) { return pod.phase == KOORD_PHASE_SUCCEEDED || pod.phase == KOORD_PHASE_FAILED; }

bool may_run(const koord_container& container) {
  return container.state == KOORD_CONTAINER_RUNNING || container.state == KOORD_CONTAINER_UNKNOWN;
}

// Returns whether the container counts. Sandboxes have all CPUs but do no work.
bool counts(const koord_container& container) {
  return may_run(container) && container.kind != KOORD_CONTAINER_SANDBOX && container.cgroup_dir.n > 0;
}

// Returns whether the pod is a single cgroup. A file may name a cgroup as a pod without containers.
bool is_one_cgroup(const koord_pod& pod) {
  if (pod.phase != KOORD_PHASE_RUNNING) return false;
  for (const koord_container& container : plugin::containers_of(pod))
    if (!may_run(container) || container.cgroup_dir.n > 0) return false;
  return true;
}

const koord_resource* cpu_of(Strided<koord_resource> resources) {
  for (const koord_resource& resource : resources)
    if (view(resource.name) == "cpu") return &resource;
  return nullptr;
}

std::optional<double> cores(std::int64_t milli) {
  return milli == KOORD_ABSENT ? std::nullopt : std::optional(static_cast<double>(milli) / 1000);
}

// Returns the number of whole CPUs. The kubelet's static policy assigns whole CPUs to containers of guaranteed pods
// that request an integer.
std::size_t whole_cpus(const koord_container& container) {
  const koord_resource* cpu = cpu_of({container.resources, container.n_resources, container.resource_stride});
  if (!cpu || cpu->request == KOORD_ABSENT || cpu->request != cpu->limit || cpu->request <= 0 ||
      cpu->request % 1000 != 0)
    return 0;
  return static_cast<std::size_t>(cpu->request / 1000);
}

std::vector<std::string> class_dirs_of(const plugin::Snapshot& snapshot) {
  std::vector<std::string> dirs;
  for (const cgroup::KubeRoot& root : kube::kube_roots(kube::places_of(snapshot.pods())))
    dirs.push_back(cgroup::qos_dir(root, cgroup::KubeQos::best_effort));
  return dirs;
}

}  // namespace

NodeView::NodeView(const koord_host* host)
    : host_(host), files_(host), knobs_(plugin::require<koord_svc_knobs>(host, "koord.knobs/1")), newest_(host) {}

void NodeView::read(const plugin::Snapshot& snapshot, std::uint64_t now_ns, std::uint64_t max_age_ns, Inputs& inputs) {
  if (snapshot.version(KOORD_ON_PODS) == 0) throw Failure(KOORD_E_AGAIN, "the pods are not known yet");
  if (snapshot.version(KOORD_ON_TOPOLOGY) == 0) throw Failure(KOORD_E_AGAIN, "the CPUs of the node are not known yet");
  follow_topology(snapshot);
  follow_node(snapshot);
  follow_pods(snapshot);
  follow_slo(snapshot);
  read_exclusive_cpus(now_ns);
  inputs.now_ns = now_ns;
  inputs.capacity_milli = capacity_milli_;
  inputs.pools = {online_, lsr_cpus_, closed_cpus_ | exclusive_cpus_};
  inputs.targets = targets_;
  inputs.use = use(now_ns, max_age_ns);
}

void NodeView::follow_topology(const plugin::Snapshot& snapshot) {
  if (snapshot.version(KOORD_ON_TOPOLOGY) == topology_version_) return;
  topology_version_ = snapshot.version(KOORD_ON_TOPOLOGY);
  node_version_ = ~std::uint64_t{0};  // the capacity depends on the topology
  online_.clear();
  closed_cpus_ = lsr_cpus_ = given_cpus_ = {};
  exclusive_until_ns_ = 0;
  const koord_topology& topology = *snapshot.topology();
  for (const koord_cpu& cpu : Strided<koord_cpu>(topology.cpus, topology.n_cpus, topology.cpu_stride)) {
    if (cpu.flags & KOORD_CPU_ONLINE) online_.push_back({cpu.cpu, cpu.core, cpu.socket, cpu.numa_node});
    if (cpu.flags & (KOORD_CPU_RESERVED | KOORD_CPU_SYSTEM | KOORD_CPU_LSE)) closed_cpus_.insert(cpu.cpu);
    if (cpu.flags & KOORD_CPU_LSR) lsr_cpus_.insert(cpu.cpu);
    if (cpu.flags & (KOORD_CPU_LSE | KOORD_CPU_LSR | KOORD_CPU_PINNED)) given_cpus_.insert(cpu.cpu);
  }
}

void NodeView::follow_node(const plugin::Snapshot& snapshot) {
  if (snapshot.version(KOORD_ON_NODE) == node_version_) return;
  node_version_ = snapshot.version(KOORD_ON_NODE);
  static constexpr koord_node kNotKnown = {};
  const koord_node& node = snapshot.node() ? *snapshot.node() : kNotKnown;
  const koord_resource* cpu = cpu_of({node.resources, node.n_resources, node.resource_stride});
  // A kubelet that could not read the machine's capacity reports 0.
  const auto capacity = cpu && cpu->limit > 0 ? cores(cpu->limit) : std::nullopt;
  // A kubelet keeps the capacity from its start.
  const auto online_milli = static_cast<std::int64_t>(online_.size()) * 1000;
  capacity_milli_ = capacity ? std::min(cpu->limit, online_milli) : online_milli;
  const auto reserved = KOORD_HAS(&node, reserved_cpu) ? cores(node.reserved_cpu) : std::nullopt;
  reserved_cores_ = usage::reserved(capacity, cpu ? cores(cpu->request) : std::nullopt, reserved);
}

void NodeView::follow_pods(const plugin::Snapshot& snapshot) {
  if (snapshot.version(KOORD_ON_PODS) == pods_version_) return;
  pods_version_ = snapshot.version(KOORD_ON_PODS);
  exclusive_until_ns_ = 0;
  best_effort_.clear();
  whole_cpus_.clear();
  targets_ = {};
  targets_.cpus_of_parents = is_unified();
  pods_run_ = false;
  const std::vector<std::string> class_dirs = class_dirs_of(snapshot);
  for (const koord_pod& pod : snapshot.pods()) follow_pod(pod, class_dirs);
}

void NodeView::follow_pod(const koord_pod& pod, const std::vector<std::string>& class_dirs) {
  const std::string dir(view(pod.cgroup_dir));
  const auto around = std::find_if(class_dirs.begin(), class_dirs.end(),
                                   [&](const std::string& one) { return dir.starts_with(one + "/"); });
  const bool best_effort = is_best_effort(pod, dir.empty() || around != class_dirs.end());
  best_effort_.emplace(pod.handle, best_effort);
  if (has_ended(pod)) return;
  pods_run_ = pods_run_ || pod.phase == KOORD_PHASE_RUNNING;
  for (const koord_container& container : plugin::containers_of(pod)) {
    if (!counts(container)) continue;
    if (best_effort) targets_.containers.emplace_back(view(container.cgroup_dir));
    const std::size_t count = pod.kube_qos == KOORD_KUBE_QOS_GUARANTEED ? whole_cpus(container) : 0;
    if (count > 0) whole_cpus_.push_back({std::string(view(container.cgroup_dir)), count});
  }
  if (!best_effort || dir.empty()) return;
  std::vector<std::string>& into = around == class_dirs.end() ? targets_.pods : targets_.classes;
  const std::string& target = around == class_dirs.end() ? dir : *around;
  if (std::find(into.begin(), into.end(), target) == into.end()) into.push_back(target);
  if (around == class_dirs.end() && is_one_cgroup(pod)) targets_.whole_pods.push_back(dir);
}

void NodeView::follow_slo(const plugin::Snapshot& snapshot) {
  if (snapshot.version(KOORD_ON_NODE_SLO) == slo_version_) return;
  slo_version_ = snapshot.version(KOORD_ON_NODE_SLO);
  best_effort_applications_ = usage::parse_best_effort_applications(snapshot.node_slo()).value_or({});
}

// Reads CPUs that the kubelet assigned exclusively. Its CPU policy is unknown here. A container with exactly as many
// CPUs as it requests, and not all CPUs, shows that the kubelet assigned them. CPUs assigned by the scheduler do not
// count.
void NodeView::read_exclusive_cpus(std::uint64_t now_ns) {
  if (now_ns < exclusive_until_ns_) return;
  exclusive_until_ns_ = now_ns + kExclusivePeriodNs;
  exclusive_cpus_ = {};
  for (const WholeCpus& container : whole_cpus_) {
    const CpuSet cpus = cpus_of(container.cgroup_dir);
    const bool is_given = !(cpus & given_cpus_).empty();
    if (!is_given && cpus.size() == container.count && cpus.size() < online_.size())
      exclusive_cpus_ = exclusive_cpus_ | cpus;
  }
}

// Returns an empty set if the cgroup has no CPUs of its own or does not exist.
CpuSet NodeView::cpus_of(const std::string& cgroup_dir) const {
  try {
    const std::string text = plugin::text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) {
      return knobs_->current(host_, plugin::str("cpuset.cpus"), plugin::str(cgroup_dir), buf, cap, need);
    });
    return CpuSet::parse(text).value_or({});
  } catch (const Failure&) {
    return {};
  }
}

// Returns whether the v2 tree has the cpuset controller. On a hybrid node it may be in either tree; it is in the v1
// tree if that tree has a cpuset hierarchy.
bool NodeView::is_unified() const {
  try {
    std::string text = files_.read(KOORD_ROOT_CGROUP, "cgroup.controllers");
    std::string_view rest = trim(text);
    while (auto name = next_word(rest))
      if (*name == "cpuset") return true;
  } catch (const Failure&) {
  }
  return false;
}

usage::Split NodeView::use(std::uint64_t now_ns, std::uint64_t max_age_ns) {
  newest_.set_window(now_ns - std::min(now_ns, max_age_ns), now_ns);
  usage::Parts parts;
  const std::optional<double> node = newest_.value_of("node_cpu_usage");
  if (!node) throw Failure(KOORD_E_AGAIN, "node_cpu_usage is not measured, or not lately");
  parts.node = *node;
  parts.reserved = reserved_cores_;
  // An unknown pod counts as not best-effort.
  for (const usage::Newest& sample : newest_.of("pod_cpu_usage")) {
    const auto pod = best_effort_.find(sample.subject);
    parts.pods.push_back({sample.value, pod != best_effort_.end() && pod->second});
  }
  if (pods_run_ && parts.pods.empty()) throw Failure(KOORD_E_AGAIN, "pod_cpu_usage is not measured, or not lately");
  double applications = 0, best_effort = 0;
  for (const usage::Newest& sample : newest_.of("host_application_cpu_usage")) applications += sample.value;
  for (const std::string& name : best_effort_applications_)
    for (const usage::Newest& sample : newest_.of("host_application_cpu_usage", plugin::Label{"host_app_name", name}))
      best_effort += sample.value;
  parts.applications = {{applications - best_effort, false}, {best_effort, true}};
  return usage::split(parts);
}

}  // namespace koord::cpu_suppress
