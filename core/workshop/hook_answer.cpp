// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/hook_answer.hpp"

namespace koord::workshop {
namespace {

std::string text_of(koord_str text) {
  return text.p != nullptr ? std::string(text.p, text.n) : std::string();
}

}  // namespace

HookAnswer::HookAnswer() : table_{sizeof table_, 0, this, set, reject} {}

koord_status HookAnswer::set(const koord_hook_response* response, koord_str field, koord_str value) {
  if (response == nullptr || field.n == 0) return KOORD_E_INVALID;
  static_cast<HookAnswer*>(response->impl)->adjustments_.emplace_back(text_of(field), text_of(value));
  return KOORD_OK;
}

koord_status HookAnswer::reject(const koord_hook_response* response, koord_str why) {
  if (response == nullptr) return KOORD_E_INVALID;
  static_cast<HookAnswer*>(response->impl)->rejection_ = text_of(why);
  return KOORD_OK;
}

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
