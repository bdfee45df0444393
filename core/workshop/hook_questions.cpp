// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/hook_questions.hpp"

#include "core/host/hook_stages.hpp"

namespace koord::workshop {

std::vector<HookQuestion> hook_questions(std::uint32_t stages, const service::SnapshotView& view) {
  std::vector<HookQuestion> questions;
  for (const koord_pod& pod : view.pods()) {
    for (const auto& stage : host::hook_stages()) {
      if ((stages & stage.bit) == 0) continue;
      if (!stage.of_container) questions.push_back({stage.bit, stage.name, &pod, nullptr});
      for (std::uint32_t i = 0; stage.of_container && i < pod.n_containers; ++i)
        questions.push_back({stage.bit, stage.name, &pod, &pod.containers[i]});
    }
  }
  return questions;
}

koord_hook_request request_of(const HookQuestion& question, const service::SnapshotView& view, Time deadline) {
  return {sizeof(koord_hook_request), question.stage,  to_ns(deadline), question.pod,
          question.container,         view.node_slo(), {"", 0}};
}

}  // namespace koord::workshop
