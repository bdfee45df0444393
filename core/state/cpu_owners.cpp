// SPDX-License-Identifier: Apache-2.0
#include "core/state/cpu_owners.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <tuple>

#include "core/json/cpu_set_field.hpp"
#include "core/state/classes.hpp"
#include "core/state/document.hpp"
#include "core/state/snapshot.hpp"

namespace koord::state {
namespace {

constexpr std::int64_t kMilli = 1000;

// Returns the parsed annotation; an empty object if it is missing or empty.
Result<boost::json::value> annotation_of(const StringMap& annotations, std::string_view key) {
  const auto found = annotations.find(key);
  if (found == annotations.end() || found->second.empty()) return boost::json::value(boost::json::object());
  Result<boost::json::value> document = read_json(found->second);
  if (document && !document->is_object()) return invalid("expected a JSON object");
  return document;
}

// Reads the members of one annotation of a Node, and reports a problem for each invalid member.
class NodeReader {
 public:
  NodeReader(std::string_view annotation, std::vector<std::string>& problems)
      : annotation_(annotation), problems_(problems) {}

  template <class T>
  std::optional<T> take(Result<T> value) {
    if (value) return *std::move(value);
    problems_.push_back("the Node's annotation " + std::string(annotation_) +
                        " is left out of account: " + value.error().text);
    return std::nullopt;
  }
  std::optional<std::int64_t> amount(const Field& resources, std::string_view name) {
    const Field field = resources[name];
    return field.empty() ? std::nullopt : take(field.quantity(name));
  }

 private:
  std::string_view annotation_;
  std::vector<std::string>& problems_;
};

void read_reservation(const Node& node, const Topology& topology, CpuOwners& owners) {
  NodeReader reader(kReservationAnnotation, owners.node_problems);
  const auto document = reader.take(annotation_of(node.annotations, kReservationAnnotation));
  if (!document) return;
  const Field object(*document);
  reader.take(object["resources"].members());
  owners.reserved_cpu_milli = reader.amount(object["resources"], "cpu");
  owners.reserved_memory_bytes = reader.amount(object["resources"], "memory");
  owners.reserved = reader.take(cpu_set_of(object["reservedCPUs"])).value_or(CpuSet());
  if (!owners.reserved.empty())
    owners.reserved_cpu_milli = kMilli * static_cast<std::int64_t>(owners.reserved.size());
  else if (owners.reserved_cpu_milli)
    owners.reserved = pick_cpus(topology, whole_cpus(*owners.reserved_cpu_milli));
}

void read_system(const Node& node, CpuOwners& owners) {
  NodeReader reader(kSystemQosAnnotation, owners.node_problems);
  const auto document = reader.take(annotation_of(node.annotations, kSystemQosAnnotation));
  if (!document) return;
  const Field object(*document);
  owners.system = reader.take(cpu_set_of(object["cpuset"])).value_or(CpuSet());
  const Field exclusive = object["cpusetExclusive"];
  if (!exclusive.empty()) owners.system_exclusive = reader.take(exclusive.boolean()).value_or(true);
}

Result<CpuSet> read_scheduled_cpus(const Pod& pod) {
  const boost::json::value document = TRY(annotation_of(pod.annotations, kResourceStatusAnnotation));
  return cpu_set_of(Field(document)["cpuset"]);
}

bool asks_for_whole_cpus(const Container& container) {
  return std::any_of(container.resources.begin(), container.resources.end(), [](const Resource& resource) {
    return resource.name == "cpu" && resource.request >= kMilli && resource.request % kMilli == 0;
  });
}

}  // namespace

CpuOwners find_cpu_owners(const Node& node, const std::vector<Pod>& pods, const Topology& topology) {
  CpuOwners owners;
  read_reservation(node, topology, owners);
  owners.reservation_is_whole = owners.node_problems.empty();
  read_system(node, owners);
  for (const Pod& pod : pods) {
    if (has_ended(pod) || !pod.annotations.contains(kResourceStatusAnnotation)) continue;
    Result<CpuSet> cpus = read_scheduled_cpus(pod);
    if (!cpus) {
      owners.pod_problems.push_back("the CPUs of pod " + full_name(pod) +
                                    " are left out of account: " + cpus.error().text);
      continue;
    }
    CpuSet& of = pod.koord_qos == KoordQos::lse   ? owners.lse
                 : pod.koord_qos == KoordQos::lsr ? owners.lsr
                                                  : owners.pinned;
    of = of | *cpus;
  }
  return owners;
}

CpuSet scheduled_cpus(const Pod& pod) { return has_ended(pod) ? CpuSet() : read_scheduled_cpus(pod).value_or({}); }

bool has_static_cpus(const Snapshot& snapshot) {
  return snapshot.kubelet && snapshot.kubelet->cpu_manager_policy == "static";
}

// Koordinator's scheduler pins pods with the label LSE or LSR. Other guaranteed pods count as LSR too, but are not
// pinned. Best-effort pods never have exclusive CPUs, whatever their label.
bool has_own_cpus(const Snapshot& snapshot, const Pod& pod, const Container& container) {
  if (pod.kube_qos == KubeQos::best_effort) return false;
  const auto label = pod.labels.find(kQosLabel);
  if (label != pod.labels.end() && (label->second == "LSE" || label->second == "LSR")) return true;
  return has_static_cpus(snapshot) && pod.kube_qos == KubeQos::guaranteed && asks_for_whole_cpus(container);
}

bool has_own_cpus(const Snapshot& snapshot, const Pod& pod) {
  return std::any_of(pod.containers.begin(), pod.containers.end(),
                     [&](const Container& container) { return has_own_cpus(snapshot, pod, container); });
}

CpuSet pick_cpus(const Topology& topology, std::size_t count) {
  std::vector<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t>> order;
  for (const Cpu& cpu : topology.cpus) {
    if (cpu.online) order.emplace_back(cpu.socket, cpu.numa_node, cpu.core, cpu.cpu);
  }
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), count));
  CpuSet picked;
  for (const auto& place : order) picked.insert(static_cast<unsigned>(std::get<3>(place)));
  return picked;
}

CpuSet online_cpus(const Topology& topology) {
  CpuSet online;
  for (const Cpu& cpu : topology.cpus) {
    if (cpu.online) online.insert(static_cast<unsigned>(cpu.cpu));
  }
  return online;
}

std::size_t whole_cpus(std::int64_t milli) {
  return static_cast<std::size_t>(std::max<std::int64_t>(milli / kMilli + (milli % kMilli > 0 ? 1 : 0), 0));
}

}  // namespace koord::state
