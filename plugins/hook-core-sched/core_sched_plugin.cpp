// SPDX-License-Identifier: Apache-2.0
// hook-core-sched: prevents containers of different groups from sharing a CPU core at the same time.
#include <mutex>
#include <set>
#include <string>

#include "koordetector/plugin.hpp"
#include "plugins/hook-core-sched/core_sched.hpp"
#include "plugins/shared/slo/node_slo.hpp"
#include "plugins/shared/slo/pod_slo.hpp"

namespace {

using koord::core_sched::Adjustment;
using koord::core_sched::Rules;
using koord::plugin::check;
using koord::plugin::str;
using koord::plugin::view;
using koord::slo::label_of;

class CoreSched final : public koord::plugin::RuntimeHook {
 public:
  // May run on several threads.
  void handle(const koord_hook_request& request, const koord_hook_response& response) override {
    const koord_pod& pod = *request.pod;
    if (request.container == nullptr || pod.qos == KOORD_QOS_SYSTEM) return;
    const Adjustment adjustment =
        koord::core_sched::adjust({view(pod.uid), label_of(pod, koord::core_sched::kGroupLabel).value_or(""),
                                   label_of(pod, koord::core_sched::kPolicyLabel).value_or("")},
                                  rules(view(request.node_slo), pod.qos));
    if (!adjustment.problem.empty())
      report("pod " + std::string(view(pod.ns)) + "/" + std::string(view(pod.name)) + ": " + adjustment.problem);
    if (adjustment.group)
      check(response.set(&response, str("linux.core_sched.group"), str(*adjustment.group)),
            "setting linux.core_sched.group");
  }

 private:
  static constexpr std::size_t kMostKept = 256;

  Rules rules(std::string_view node_slo, std::uint32_t qos) {
    std::lock_guard lock(mutex_);
    if (node_slo != text_) {
      text_ = node_slo;
      auto parsed = koord::slo::parse_node_slo(node_slo);
      slo_ = parsed ? std::move(parsed->slo) : koord::slo::NodeSlo{};
      if (!parsed) log(KOORD_LOG_WARN, parsed.error().message() + "; no container gets a core-scheduling group");
    }
    if (!slo_.resource_qos || slo_.resource_qos->cpu_policy != koord::slo::CpuPolicy::core_sched) return {};
    const koord::slo::ClassQos* of_class = koord::slo::class_for(*slo_.resource_qos, qos);
    if (of_class == nullptr || !of_class->cpu) return {};
    return {of_class->cpu->enable.value_or(false), of_class->cpu->core_expeller.value_or(false)};
  }

  // Logs each problem once. When kMostKept problems are kept, all are forgotten, so a problem may be logged again.
  void report(const std::string& problem) {
    std::lock_guard lock(mutex_);
    if (reported_.size() >= kMostKept) reported_.clear();
    if (reported_.insert(problem).second) log(KOORD_LOG_WARN, problem);
  }

  std::mutex mutex_;
  std::string text_;                // guarded by mutex_; text of slo_
  koord::slo::NodeSlo slo_;         // guarded by mutex_
  std::set<std::string> reported_;  // guarded by mutex_
};

}  // namespace

KOORD_PLUGIN("id=hook-core-sched\n"
             "version=0.1.0\n"
             "kinds=koord.runtime-hook/1\n"
             "gate=CoreSched\n"
             "stage=alpha\n"
             "license=Apache-2.0\n"
             "description=keeps containers of different groups off the same CPU core\n",
             koord::plugin::runtime_hook<CoreSched, KOORD_STAGE_PRE_CREATE_CONTAINER>("core-sched"))
