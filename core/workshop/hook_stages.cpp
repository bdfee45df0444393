// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/hook_stages.hpp"

#include "core/service/snapshot_view.hpp"

namespace koord::workshop {

const std::vector<HookStage>& hook_stages() {
  static const std::vector<HookStage> all{
      {KOORD_STAGE_PRE_RUN_POD_SANDBOX, "PreRunPodSandbox", false},
      {KOORD_STAGE_POST_STOP_POD_SANDBOX, "PostStopPodSandbox", false},
      {KOORD_STAGE_PRE_REMOVE_RUN_POD_SANDBOX, "PreRemoveRunPodSandbox", false},
      {KOORD_STAGE_PRE_CREATE_CONTAINER, "PreCreateContainer", true},
      {KOORD_STAGE_PRE_START_CONTAINER, "PreStartContainer", true},
      {KOORD_STAGE_POST_START_CONTAINER, "PostStartContainer", true},
      {KOORD_STAGE_PRE_UPDATE_CONTAINER_RESOURCES, "PreUpdateContainerResources", true},
      {KOORD_STAGE_POST_STOP_CONTAINER, "PostStopContainer", true},
  };
  return all;
}

std::vector<HookQuestion> hook_questions(std::uint32_t stages, const service::SnapshotView& view) {
  std::vector<HookQuestion> questions;
  for (const koord_pod& pod : view.pods()) {
    for (const HookStage& stage : hook_stages()) {
      if ((stages & stage.bit) == 0) continue;
      if (!stage.of_container) questions.push_back({&stage, &pod, nullptr});
      for (std::uint32_t i = 0; stage.of_container && i < pod.n_containers; ++i)
        questions.push_back({&stage, &pod, &pod.containers[i]});
    }
  }
  return questions;
}

koord_hook_request request_of(const HookQuestion& question, const service::SnapshotView& view, Time deadline) {
  return {sizeof(koord_hook_request), question.stage->bit, to_ns(deadline), question.pod,
          question.container,         view.node_slo(),     {"", 0}};
}

}  // namespace koord::workshop
