// SPDX-License-Identifier: Apache-2.0
// A question of koord-cri-proxy, with any content: the result is a pod and container, or an error that names the
// problem. The agent's answer must be JSON for any answers of the hooks.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/hook/creation.hpp"
#include "core/hook/cri_question.hpp"
#include "core/json/reader.hpp"
#include "koordetector/plugin.h"

using namespace koord;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::uint32_t stage : {KOORD_STAGE_PRE_RUN_POD_SANDBOX, KOORD_STAGE_PRE_CREATE_CONTAINER}) {
    const Result<hook::CriQuestion> question = hook::read_cri_question(stage, text, [](auto) { return true; });
    if (!question) {
      if (question.error().message().empty()) std::abort();
      continue;
    }
    if (question->pod.uid.empty() || question->container.has_value() != (stage == KOORD_STAGE_PRE_CREATE_CONTAINER))
      std::abort();
    const state::Pod pod = hook::pod_of(question->pod, {});
    if (!question->container) continue;
    const nri::Resources& requested = question->container->resources;
    if (hook::container_of(*question->container, pod).name.empty()) std::abort();
    const host::HookVerdict verdict{.settings = {{"env:A", std::string(text.substr(0, 100)), "a"}},
                                    .scales = {{"linux.cpu.quota", 0.5, "a"}, {"linux.memory.limit", 1000, "a"}}};
    if (!read_json_object(hook::cri_answer(verdict, requested, size % 2 == 0))) std::abort();
    if (!read_json_object(hook::cri_rejection(text))) std::abort();
    hook::unadjusted_of(verdict, *question->container);
  }
  return 0;
}
