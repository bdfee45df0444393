// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/hook_stages.hpp"

#include "koordetector/plugin.h"

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

}  // namespace koord::workshop
