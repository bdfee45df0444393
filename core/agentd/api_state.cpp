// SPDX-License-Identifier: Apache-2.0
// /api/v1/node and /api/v1/pods: the state snapshot with the latest values beside it.
#include "core/agentd/json_answer.hpp"
#include "core/agentd/latest_values.hpp"
#include "core/agentd/version.hpp"

namespace koord::agentd {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr Duration kMaxAge = 1min;

json::object values_of(const LatestValues& values, std::uint64_t subject) {
  auto found = values.find(subject);
  return found == values.end() ? json::object() : json_map(found->second);
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

json::object container(const state::Container& container, const LatestValues& values) {
  return {{"id", container.id},
          {"name", container.name},
          {"kind", name_of(container.kind)},
          {"state", name_of(container.state)},
          {"cgroup", container.cgroup_dir},
          {"resources", resources(container.resources)},
          {"values", values_of(values, container.handle)}};
}

json::array containers(const std::vector<state::Container>& list, const LatestValues& values) {
  json::array array;
  for (const state::Container& one : list) array.push_back(container(one, values));
  return array;
}

json::object pod(const state::Pod& pod, const LatestValues& values) {
  return {{"uid", pod.uid},
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
          {"values", values_of(values, pod.handle)},
          {"containers", containers(pod.containers, values)}};
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

LatestValues current_values(const ApiSources& sources) {
  return latest_values(sources.services.metrics, sources.services.clock.now(), kMaxAge);
}

}  // namespace

http::Response get_node(const ApiSources& sources, const http::Request&) {
  state::SnapshotPtr snapshot = sources.services.hub.current();
  const state::Node& node = snapshot->node;
  return json_answer({{"name", node.name},
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
                      {"values", values_of(current_values(sources), 0)}});
}

http::Response get_pods(const ApiSources& sources, const http::Request&) {
  state::SnapshotPtr snapshot = sources.services.hub.current();
  if (snapshot->versions.pods == 0) return json_error(503, "the pods of this node are not known yet");
  LatestValues values = current_values(sources);
  json::array pods;
  for (const state::Pod& one : snapshot->pods) pods.push_back(pod(one, values));
  return json_answer({{"pods", std::move(pods)}, {"containers", containers(snapshot->standalone, values)}});
}

}  // namespace koord::agentd
