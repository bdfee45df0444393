// SPDX-License-Identifier: Apache-2.0
// hook-cpu-normalization: multiplies CPU limits of latency-sensitive pods by the speed of the reference CPU divided by
// the speed of the node's CPU.
#include <mutex>
#include <optional>
#include <string>

#include "koordetector/plugin.hpp"
#include "plugins/hook-cpu-normalization/cpu_normalization.hpp"
#include "plugins/shared/slo/pod_slo.hpp"

namespace {

using koord::plugin::check;
using koord::plugin::Snapshot;
using koord::plugin::str;

constexpr std::string_view kResourceStatus = "scheduling.koordinator.sh/resource-status";

// Pods with exclusive CPUs have no quota to multiply; best-effort and system pods have limits of a different kind.
bool is_normalized(const koord_pod& pod) {
  if (pod.qos == KOORD_QOS_BE || pod.qos == KOORD_QOS_SYSTEM) return false;  // even if the pod has no label
  const std::string_view label = koord::slo::label_of(pod, koord::slo::kQosLabel).value_or("");
  if (!label.empty()) return label == "LS";
  return koord::slo::annotation_of(pod, kResourceStatus).value_or("").find("\"cpuset\"") == std::string_view::npos;
}

class CpuNormalization final : public koord::plugin::RuntimeHook {
 public:
  void init() override { state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1"); }

  // May run on several threads.
  void handle(const koord_hook_request& request, const koord_hook_response& response) override {
    if (!is_normalized(*request.pod)) return;
    const std::optional<double> factor = koord::normalization::factor_of(ratio());
    if (factor) check(response.scale(&response, str("linux.cpu.quota"), *factor), "scaling linux.cpu.quota");
  }

 private:
  std::optional<double> ratio() {
    const std::optional<Snapshot> snapshot = Snapshot::if_known(host(), state_);
    const koord_node* node = snapshot ? snapshot->node() : nullptr;
    if (node == nullptr) return std::nullopt;
    const auto ratio = koord::normalization::parse_ratio(
        koord::slo::annotation_of(*node, koord::normalization::kAnnotation).value_or(""));
    report(ratio ? std::string() : ratio.error().message());
    return ratio ? *ratio : std::nullopt;
  }

  // Logs each problem once.
  void report(const std::string& problem) {
    std::lock_guard lock(mutex_);
    if (problem == problem_) return;
    problem_ = problem;
    if (!problem.empty()) log(KOORD_LOG_WARN, problem + "; CPU limits stay as they are");
  }

  const koord_svc_state* state_ = nullptr;
  std::mutex mutex_;
  std::string problem_;  // guarded by mutex_
};

}  // namespace

KOORD_PLUGIN("id=hook-cpu-normalization\n"
             "version=0.1.0\n"
             "kinds=koord.runtime-hook/1\n"
             "gate=CPUNormalization\n"
             "stage=alpha\n"
             "requires=koord.state/1\n"
             "license=Apache-2.0\n"
             "description=CPU limits by the speed of the node's CPUs\n",
             koord::plugin::runtime_hook<CpuNormalization, KOORD_STAGE_PRE_RUN_POD_SANDBOX |
                                                               KOORD_STAGE_PRE_CREATE_CONTAINER>("cpu-normalization"))
