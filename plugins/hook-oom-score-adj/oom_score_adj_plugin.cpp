// SPDX-License-Identifier: Apache-2.0
// hook-oom-score-adj: sets the order in which the kernel kills processes when memory is short, from a pod's
// annotations.
#include <mutex>
#include <set>
#include <string>

#include "koordetector/plugin.hpp"
#include "plugins/hook-oom-score-adj/oom_score_adj.hpp"
#include "plugins/shared/slo/pod_slo.hpp"

namespace {

using koord::oom_score::Adjustment;
using koord::plugin::check;
using koord::plugin::str;
using koord::plugin::view;
using koord::slo::annotation_of;

class OomScoreAdj final : public koord::plugin::RuntimeHook {
 public:
  // May run on several threads.
  void handle(const koord_hook_request& request, const koord_hook_response& response) override {
    if (request.container == nullptr) return;
    const koord_pod& pod = *request.pod;
    const Adjustment adjustment = koord::oom_score::adjust(
        view(request.container->name),
        {annotation_of(pod, koord::oom_score::kAnnotation), annotation_of(pod, koord::oom_score::kSpecAnnotation)});
    if (!adjustment.problem.empty())
      report("pod " + std::string(view(pod.ns)) + "/" + std::string(view(pod.name)) + ": " + adjustment.problem);
    if (adjustment.score)
      check(response.set(&response, str("linux.oom_score_adj"), str(std::to_string(*adjustment.score))),
            "setting linux.oom_score_adj");
  }

 private:
  static constexpr std::size_t kMostKept = 256;

  // Logs each problem once. When kMostKept problems are kept, all are forgotten, so a problem may be logged again.
  void report(const std::string& problem) {
    std::lock_guard lock(mutex_);
    if (reported_.size() >= kMostKept) reported_.clear();
    if (reported_.insert(problem).second) log(KOORD_LOG_WARN, problem);
  }

  std::mutex mutex_;
  std::set<std::string> reported_;  // guarded by mutex_
};

}  // namespace

KOORD_PLUGIN("id=hook-oom-score-adj\n"
             "version=0.1.0\n"
             "kinds=koord.runtime-hook/1\n"
             "gate=OOMScoreAdj\n"
             "stage=alpha\n"
             "license=Apache-2.0\n"
             "description=OOM score adjustment of containers from annotations of their pod\n",
             koord::plugin::runtime_hook<OomScoreAdj, KOORD_STAGE_PRE_CREATE_CONTAINER>("oom-score-adj"))
