// SPDX-License-Identifier: Apache-2.0
#include "core/report/object_sources.hpp"

#include <memory>

#include "core/base/file.hpp"
#include "core/report/devices.hpp"
#include "core/report/node_topology.hpp"

namespace koord::report {
namespace {

constexpr std::int64_t kObjectSecond = 1'000'000'000;
constexpr const char* kNodeInfo = "advisor-node-info";

std::vector<std::string> needed_metadata() {
  return {"metadata.name", "metadata.ownerReferences", "metadata.resourceVersion"};
}

// Fails if the Node is unknown, because its uid is needed for the owner reference.
Result<void> check_node(const state::Snapshot& state) {
  if (state.node.uid.empty()) return not_found("the Node is unknown");
  return {};
}

Result<std::optional<std::vector<Device>>> devices_of(const Facts& facts, const std::string& plugin,
                                                      const std::string& name,
                                                      Result<std::vector<Device>> (*parse)(std::string_view)) {
  const std::optional<std::string> text = facts(plugin, name);
  if (!text) return std::optional<std::vector<Device>>();
  return std::optional(TRY(parse(*text)));
}

Result<Merge> merge_of_devices(const state::Snapshot& state, const Clock& clock, const Facts& facts) {
  TRY(check_node(state));
  auto devices = std::make_shared<Devices>();
  devices->gpus = TRY(devices_of(facts, "advisor-gpu", "GPU", parse_gpu_fact));
  devices->rdma = TRY(devices_of(facts, "advisor-rdma", "RDMA", parse_rdma_fact));
  if (!devices->gpus && !devices->rdma) return not_found("neither advisor-gpu nor advisor-rdma has reported devices");
  return Merge([devices, now = clock.wall_ns() / kObjectSecond](std::string_view object) {
    return merge_devices(*devices, object, now);
  });
}

}  // namespace

ObjectReporter::Object TopologySource::object() {
  return {"NodeResourceTopology", "/apis/topology.node.k8s.io/v1alpha1/noderesourcetopologies",
          [this](const state::Snapshot& state) { return compute(state); }, new_node_topology,
          ReductionRules{.whole = {"zones[].resources[]"}, .needed = needed_metadata()}};
}

Result<Merge> TopologySource::compute(const state::Snapshot& state) {
  const Result<CpuPools> pools = read_pools(state);
  {
    std::lock_guard lock(mutex_);
    pools_ = pools ? std::optional(*pools) : std::nullopt;
  }
  if (!pools) return pools.error();
  TRY(check_node(state));
  auto topology = std::make_shared<const NodeTopology>(
      make_node_topology({state, *pools, facts_(kNodeInfo, "node_cpu_info").value_or(""),
                          facts_(kNodeInfo, "node_numa_info").value_or("")}));
  return Merge([topology](std::string_view object) { return merge_node_topology(*topology, object); });
}

Result<CpuPools> TopologySource::read_pools(const state::Snapshot& state) const {
  const std::optional<Time> confirmed = hub_.confirmed(state::kPods);
  if (!confirmed || clock_.now() - *confirmed > tolerance_.old)
    return not_found("the pods of this node were not confirmed lately");
  std::optional<CpuManagerState> given;
  if (state.kubelet && state.kubelet->cpu_manager_policy == "static") {
    const std::string text = TRY(read_file(roots_.kubelet + "/cpu_manager_state"));
    given = TRY(parse_cpu_manager_state(text));
  }
  return make_cpu_pools(state, given);
}

std::optional<CpuPools> TopologySource::pools() const {
  std::lock_guard lock(mutex_);
  return pools_;
}

ObjectReporter::Object device_object(const Clock& clock, Facts facts) {
  return {
      "Device", "/apis/scheduling.koordinator.sh/v1alpha1/devices",
      [&clock, facts = std::move(facts)](const state::Snapshot& state) {
        return merge_of_devices(state, clock, facts);
      },
      new_device_object,
      ReductionRules{.whole = {"spec.devices[].conditions[]", "spec.devices[].topology", "spec.devices[].vfGroups[]"},
                     .needed = needed_metadata()}};
}

std::map<std::string, bool, std::less<>> gpu_health(const Facts& facts) {
  std::map<std::string, bool, std::less<>> health;
  const auto gpus = devices_of(facts, "advisor-gpu", "GPU", parse_gpu_fact);
  if (!gpus || !*gpus) return health;
  for (const Device& gpu : **gpus) health.emplace(gpu.id, gpu.healthy);
  return health;
}

}  // namespace koord::report
