// SPDX-License-Identifier: Apache-2.0
// /api/v1/node and /api/v1/pods: the state snapshot with the latest values.
#include "core/api/json_answer.hpp"
#include "core/api/latest_values.hpp"
#include "core/api/pods_named.hpp"
#include "core/base/version.hpp"

namespace koord::api {
namespace {

namespace json = boost::json;

// The latest values of all subjects, and the clock for their times.
struct LatestValueSource {
  LatestValues values;
  const Clock& clock;
};

// Adds "values" and "times" of one subject, both with the same names.
json::object with_values(json::object object, const LatestValueSource& source, std::uint64_t subject) {
  json::object values, times;
  if (auto found = source.values.find(subject); found != source.values.end()) {
    for (const auto& [name, latest] : found->second) {
      values[name] = latest.value;
      times[name] = wall_seconds(source.clock, latest.time);
    }
  }
  object["values"] = std::move(values);
  object["times"] = std::move(times);
  return object;
}

json::object resources(const std::vector<state::Resource>& resources) {
  json::object object;
  for (const state::Resource& resource : resources) {
    json::object amounts;
    if (resource.request != state::kNoResource) amounts["request"] = resource.request;
    if (resource.limit != state::kNoResource) amounts["limit"] = resource.limit;
    object[resource.name] = std::move(amounts);
  }
  return object;
}

json::object container(const state::Container& container, const LatestValueSource& values) {
  return with_values({{"id", container.id},
                      {"name", container.name},
                      {"kind", name_of(container.kind)},
                      {"state", name_of(container.state)},
                      {"cgroup", container.cgroup_dir},
                      {"resources", resources(container.resources)}},
                     values, container.handle);
}

json::array containers(const std::vector<state::Container>& list, const LatestValueSource& values) {
  json::array array;
  for (const state::Container& one : list) array.push_back(container(one, values));
  return array;
}

json::object pod(const state::Pod& pod, const LatestValueSource& values) {
  json::object object{{"uid", pod.uid},
                      {"namespace", pod.namespace_},
                      {"name", pod.name},
                      {"phase", name_of(pod.phase)},
                      {"qosClass", name_of(pod.koord_qos)},
                      {"kubernetesQOS", state::name_of(pod.kube_qos)},
                      {"priority", pod.priority},
                      {"priorityClass", name_of(pod.priority_class)},
                      {"labels", json_map(pod.labels)},
                      {"cgroup", pod.cgroup_dir},
                      {"resources", resources(pod.resources)},
                      {"containers", containers(pod.containers, values)}};
  object = with_values(std::move(object), values, pod.handle);
  if (pod.start_time_ns != 0) object["startTime"] = static_cast<double>(pod.start_time_ns / 1'000'000) / 1e3;
  if (pod.deleting) object["deleting"] = true;
  return object;
}

// Returns since when the state of each part is unconfirmed. Omits parts that were never known.
json::object ages(const ApiSources& sources) {
  const std::pair<state::Part, const char*> kParts[] = {
      {state::kNode, "node"}, {state::kPods, "pods"}, {state::kNodeSlo, "nodeSLO"}, {state::kTopology, "topology"}};
  json::object ages;
  for (const auto& [part, name] : kParts) {
    const std::optional<Time> confirmed = sources.services.hub.confirmed(part);
    if (confirmed) ages[name] = to_seconds(sources.services.clock.now() - *confirmed);
  }
  return ages;
}

json::object state_of(const ApiSources& sources) {
  json::object state{{"source", sources.pod_source}, {"ageSeconds", ages(sources)}};
  for (const ModuleHealth& module : sources.health()) {
    if (module.name == "state" && module.detail != "ok") state["problem"] = module.detail;
  }
  return state;
}

json::array addresses(const state::Node& node) {
  json::array array;
  for (const state::NodeAddress& address : node.addresses)
    array.push_back({{"type", address.type}, {"address", address.address}});
  return array;
}

json::object kubelet(const state::KubeletConfig& config) {
  return {{"cgroupDriver", config.cgroup_driver},
          {"cgroupRoot", config.cgroup_root},
          {"cpuManagerPolicy", config.cpu_manager_policy},
          {"cpuManagerPolicyOptions", json_map(config.cpu_manager_options)},
          {"topologyManagerPolicy", config.topology_manager_policy},
          {"topologyManagerScope", config.topology_manager_scope},
          {"reservedSystemCPUs", config.reserved_cpus},
          {"systemReserved", json_map(config.system_reserved)},
          {"kubeReserved", json_map(config.kube_reserved)}};
}

// Returns the API server's objects about this node that are known to exist or to be missing.
json::object objects(const state::NodeObjects& known) {
  json::object there;
  for (const auto& [kind, text] : known) there[kind] = text && !text->empty();
  return there;
}

json::array cpus(const state::Topology& topology) {
  json::array array;
  for (const state::Cpu& cpu : topology.cpus)
    array.push_back({{"cpu", cpu.cpu},
                     {"core", cpu.core},
                     {"socket", cpu.socket},
                     {"numaNode", cpu.numa_node},
                     {"l3", cpu.l3},
                     {"online", cpu.online}});
  return array;
}

// Returns the CPUs with restricted use.
json::object cpu_owners(const state::CpuOwners& owners) {
  json::object object{{"reserved", owners.reserved.list()}, {"lse", owners.lse.list()},
                      {"lsr", owners.lsr.list()},           {"pinned", owners.pinned.list()},
                      {"system", owners.system.list()},     {"systemExclusive", owners.system_exclusive}};
  json::array problems = json_strings(owners.node_problems);
  for (const std::string& problem : owners.pod_problems) problems.emplace_back(problem);
  object["problems"] = std::move(problems);
  return object;
}

json::array numa_nodes(const state::Topology& topology) {
  json::array array;
  for (const state::NumaNode& node : topology.numa_nodes)
    array.push_back({{"id", node.id}, {"memoryBytes", node.memory_bytes}});
  return array;
}

json::object cgroup_files(const cgroup::Reader& reader) {
  const cgroup::Reader::Use use = reader.use();
  return {{"files", use.kernel_files},
          {"keptFiles", use.kept_files},
          {"keptDirectories", use.kept_directories},
          {"reads", use.reads},
          {"sharedReads", use.shared}};
}

LatestValueSource current_values(const ApiSources& sources) {
  const Clock& clock = sources.services.clock;
  return {latest_values(sources.services.metrics, clock.now(), two_periods(sources.plugins())), clock};
}

}  // namespace

http::Response get_node(const ApiSources& sources, const http::Request&) {
  state::SnapshotPtr snapshot = sources.services.hub.current();
  const state::Node& node = snapshot->node;
  json::object answer{{"name", node.name},
                      {"uid", node.uid},
                      {"version", kVersion},
                      {"time", wall_seconds(sources.services.clock, sources.services.clock.now())},
                      {"cgroupHierarchy", name_of(sources.hierarchy)},
                      {"cgroupFiles", cgroup_files(sources.services.cgroups)},
                      {"labels", json_map(node.labels)},
                      {"allocatable", json_map(node.allocatable)},
                      {"capacity", json_map(node.capacity)},
                      {"cpus", cpus(snapshot->topology)},
                      {"memoryBytes", snapshot->topology.memory_bytes},
                      {"numaNodes", numa_nodes(snapshot->topology)},
                      {"addresses", addresses(node)},
                      {"kubeletPort", node.kubelet_port},
                      {"objects", objects(snapshot->objects)},
                      {"pods", snapshot->pods.size()},
                      {"state", state_of(sources)}};
  answer = with_values(std::move(answer), current_values(sources), 0);
  if (snapshot->cpu_owners) answer["cpuOwners"] = cpu_owners(*snapshot->cpu_owners);
  if (snapshot->kubelet) answer["kubelet"] = kubelet(*snapshot->kubelet);
  if (const auto of_kubelet = sources.services.capabilities.find("kubelet");
      of_kubelet && of_kubelet->state != service::CapabilityState::supported)
    answer["kubeletProblem"] = of_kubelet->detail;
  return json_answer(std::move(answer));
}

http::Response get_pods(const ApiSources& sources, const http::Request&) {
  state::SnapshotPtr snapshot = sources.services.hub.current();
  if (snapshot->versions.pods == 0)
    return json_error(503, pods_unknown_because(why_pods_unknown(sources).value_or("")));
  const LatestValueSource values = current_values(sources);
  json::array pods;
  for (const state::Pod& one : snapshot->pods) pods.push_back(pod(one, values));
  return json_answer({{"pods", std::move(pods)},
                      {"containers", containers(snapshot->standalone, values)},
                      {"time", wall_seconds(sources.services.clock, sources.services.clock.now())},
                      {"state", state_of(sources)}});
}

}  // namespace koord::api
