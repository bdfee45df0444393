// SPDX-License-Identifier: Apache-2.0
#include "core/host/hook_stages.hpp"

#include "koordetector/plugin.h"

namespace koord::host {

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

std::string_view name_of_stage(std::uint32_t bit) {
  for (const HookStage& stage : hook_stages())
    if (stage.bit == bit) return stage.name;
  return {};
}

}  // namespace koord::host
