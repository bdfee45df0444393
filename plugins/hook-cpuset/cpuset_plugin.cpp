// SPDX-License-Identifier: Apache-2.0
// hook-cpuset: sets the CPUs of containers: the scheduler's allocation for pods with exclusive CPUs, the shared CPUs
// for others.
#include <optional>
#include <string>
#include <string_view>

#include "koordetector/plugin.hpp"
#include "plugins/hook-cpuset/cpuset.hpp"
#include "plugins/shared/sdk/reported_problems.hpp"
#include "plugins/shared/slo/pod_slo.hpp"

namespace {

using koord::hook_cpuset::PodFacts;
using koord::plugin::check;
using koord::plugin::Snapshot;
using koord::plugin::str;
using koord::plugin::Strided;
using koord::plugin::view;

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "kubeletPolicy": {"enum": ["none", "static"],
                      "description": "cpuManagerPolicy of the node's kubelet; static: it selects the CPUs of pods without CPUs from the scheduler; default: none"},
    "bestEffortPools": {"type": "boolean",
                        "description": "limits best-effort pods with an allocation by NUMA node to the CPUs of these nodes; default: false"},
    "removeQuota": {"type": "boolean",
                    "description": "removes the CPU quota of pods that own CPUs; default: true"}
  }})";

// Returns whether the container requests whole CPUs, as the kubelet's static policy requires.
bool requests_whole_cpus(const koord_container& container) {
  for (const koord_resource& resource : Strided(container.resources, container.n_resources, container.resource_stride))
    if (view(resource.name) == "cpu" && resource.request > 0 && resource.request % 1000 == 0) return true;
  return false;
}

std::int64_t cpu_request_of(const koord_pod& pod) {
  for (const koord_resource& resource : Strided(pod.resources, pod.n_resources, pod.resource_stride))
    if (view(resource.name) == "cpu" && resource.request > 0) return resource.request;
  return 0;
}

std::string name_of(const koord_pod& pod) { return std::string(view(pod.ns)) + "/" + std::string(view(pod.name)); }

class Cpuset final : public koord::plugin::RuntimeHook {
 public:
  void init() override {
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    const koord::plugin::Config config(host());
    settings_.has_static_policy = config.string("/kubeletPolicy") == "static";
    settings_.uses_best_effort_pools = config.boolean("/bestEffortPools").value_or(false);
    settings_.removes_quota = config.boolean("/removeQuota").value_or(true);
  }

  // May run on several threads.
  void handle(const koord_hook_request& request, const koord_hook_response& response) override {
    const std::optional<Snapshot> snapshot = Snapshot::if_known(host(), state_);
    if (!snapshot || snapshot->topology() == nullptr) return;
    const koord_topology& topology = *snapshot->topology();
    const auto pools = koord::hook_cpuset::pools_of({topology.cpus, topology.n_cpus, topology.cpu_stride});
    const auto adjustment =
        koord::hook_cpuset::adjust(facts_of(request), pools, system_cpus(snapshot->node()), settings_);
    report(adjustment.problem.empty() ? "" : "pod " + name_of(*request.pod) + ": " + adjustment.problem);
    if (adjustment.has_no_quota) set(response, "linux.cpu.quota", "-1");
    if (request.container != nullptr && adjustment.cpus) set(response, "linux.cpuset.cpus", adjustment.cpus->list());
  }

 private:
  static void set(const koord_hook_response& response, std::string_view field, const std::string& value) {
    check(response.set(&response, str(field), str(value)), field);
  }

  PodFacts facts_of(const koord_hook_request& request) {
    const koord_pod& pod = *request.pod;
    PodFacts facts;
    facts.label = koord::slo::label_of(pod, koord::slo::kQosLabel).value_or("");
    facts.is_best_effort = pod.kube_qos == KOORD_KUBE_QOS_BEST_EFFORT;
    facts.may_own_statically = pod.kube_qos == KOORD_KUBE_QOS_GUARANTEED && request.container != nullptr &&
                               requests_whole_cpus(*request.container);
    facts.request_milli = cpu_request_of(pod);
    auto allocation = koord::hook_cpuset::parse_allocation(
        koord::slo::annotation_of(pod, koord::hook_cpuset::kAllocationAnnotation).value_or(""));
    if (!allocation)
      report("pod " + name_of(pod) + ": " + allocation.error().message() + "; the annotation is ignored");
    if (allocation) facts.allocation = *std::move(allocation);
    return facts;
  }

  koord::CpuSet system_cpus(const koord_node* node) {
    if (node == nullptr) return {};
    const auto cpus = koord::hook_cpuset::parse_system_cpus(
        koord::slo::annotation_of(*node, koord::hook_cpuset::kSystemAnnotation).value_or(""));
    if (!cpus) report("Node: " + cpus.error().message() + "; the annotation is ignored");
    return cpus ? *cpus : koord::CpuSet();
  }

  void report(const std::string& problem) {
    if (problems_.is_new(problem)) log(KOORD_LOG_WARN, problem);
  }

  const koord_svc_state* state_ = nullptr;
  koord::hook_cpuset::Settings settings_;
  koord::hook_plugin::ReportedProblems problems_;
};

}  // namespace

KOORD_PLUGIN("id=hook-cpuset\n"
             "version=0.1.0\n"
             "kinds=koord.runtime-hook/1\n"
             "gate=CPUSetAllocator\n"
             "stage=alpha\n"
             "requires=koord.state/1,koord.config/1\n"
             "license=Apache-2.0\n"
             "description=CPUs of pods from the scheduler's allocation and the shared pools\n",
             koord::plugin::runtime_hook<Cpuset, KOORD_STAGE_PRE_RUN_POD_SANDBOX | KOORD_STAGE_PRE_CREATE_CONTAINER>(
                 "cpuset", 0, kConfigSchema))
