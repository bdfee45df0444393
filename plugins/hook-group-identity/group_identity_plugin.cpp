// SPDX-License-Identifier: Apache-2.0
// hook-group-identity: sets the scheduling priority of pods by their class.
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "koordetector/plugin.hpp"
#include "plugins/hook-group-identity/group_identity.hpp"
#include "plugins/hook-group-identity/kernel_knobs.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/sdk/reported_problems.hpp"
#include "plugins/shared/slo/pod_slo.hpp"

namespace {

using koord::group_identity::Identities;
using koord::group_identity::KubeQos;
using koord::group_identity::PodFacts;
using koord::plugin::check;
using koord::plugin::str;
using koord::plugin::Strided;
using koord::plugin::view;

KubeQos kube_qos_of(const koord_pod& pod) {
  if (pod.kube_qos == KOORD_KUBE_QOS_BEST_EFFORT) return KubeQos::best_effort;
  return pod.kube_qos == KOORD_KUBE_QOS_GUARANTEED ? KubeQos::guaranteed : KubeQos::burstable;
}

bool has_batch_resources(const koord_pod& pod) {
  for (const koord_resource& resource : Strided(pod.resources, pod.n_resources, pod.resource_stride))
    if (view(resource.name).starts_with("kubernetes.io/batch-")) return true;
  return false;
}

class GroupIdentity final : public koord::plugin::RuntimeHook {
 public:
  void init() override {
    kernel_ = koord::group_identity::find_kernel_knobs(koord::node::roots_of(host()));
    const auto* capabilities = koord::plugin::require<koord_svc_capabilities>(host(), "koord.capabilities/1");
    const auto report = [&](const char* name, bool is_supported, const char* file, const char* otherwise) {
      capabilities->report(host(), str(name), is_supported ? KOORD_CAPABILITY_SUPPORTED : KOORD_CAPABILITY_ABSENT,
                           str(is_supported ? file : otherwise));
    };
    report("group_identity", kernel_.has_identities, "cpu.bvt_warp_ns", "this kernel has no cpu.bvt_warp_ns");
    report("cpu_idle", kernel_.has_idle, "cpu.idle", "this kernel has no cpu.idle, which Linux has since 5.15");
  }

  // May run on several threads.
  void handle(const koord_hook_request& request, const koord_hook_response& response) override {
    const koord_pod& pod = *request.pod;
    if (pod.kube_qos == KOORD_KUBE_QOS_UNKNOWN) return;
    const auto adjustment =
        koord::group_identity::adjust(facts_of(pod), identities_of(view(request.node_slo)), kernel_);
    set(response, "linux.cpu.bvt_warp_ns", adjustment.bvt_warp);
    set(response, "linux.cpu.idle", adjustment.idle);
    set(response, "linux.cpu.shares", adjustment.shares);
  }

 private:
  static void set(const koord_hook_response& response, std::string_view field, std::optional<std::int64_t> value) {
    if (value) check(response.set(&response, str(field), str(std::to_string(*value))), field);
  }

  PodFacts facts_of(const koord_pod& pod) {
    PodFacts facts;
    facts.label = koord::slo::label_of(pod, koord::slo::kQosLabel).value_or("");
    facts.kube_qos = kube_qos_of(pod);
    facts.has_batch_resources = has_batch_resources(pod);
    const auto own = koord::group_identity::parse_identity(
        koord::slo::annotation_of(pod, koord::group_identity::kAnnotation).value_or(""));
    if (own) facts.own = *own;
    if (!own)
      report("pod " + std::string(view(pod.ns)) + "/" + std::string(view(pod.name)) + ": " + own.error().message() +
             "; the pod has the identity of its class");
    return facts;
  }

  // Parses a NodeSLO only once, not for each pod.
  Identities identities_of(std::string_view node_slo) {
    std::lock_guard lock(mutex_);
    if (node_slo == node_slo_) return identities_;
    node_slo_ = node_slo;
    const auto identities = koord::group_identity::parse_identities(node_slo);
    if (!identities) report("NodeSLO: " + identities.error().message() + "; no class has an identity");
    return identities_ = identities ? *identities : Identities{};
  }

  void report(const std::string& problem) {
    if (problems_.is_new(problem)) log(KOORD_LOG_WARN, problem);
  }

  koord::group_identity::Kernel kernel_;
  koord::hook_plugin::ReportedProblems problems_;
  std::mutex mutex_;
  std::string node_slo_;   // guarded by mutex_
  Identities identities_;  // parsed from node_slo_
};

}  // namespace

KOORD_PLUGIN("id=hook-group-identity\n"
             "version=0.1.0\n"
             "kinds=koord.runtime-hook/1\n"
             "gate=GroupIdentity\n"
             "stage=alpha\n"
             "requires=koord.fs/1,koord.capabilities/1\n"
             "license=Apache-2.0\n"
             "description=the scheduler's priority of pods by their class\n",
             koord::plugin::runtime_hook<GroupIdentity, KOORD_STAGE_PRE_RUN_POD_SANDBOX>("group-identity"))
