// SPDX-License-Identifier: Apache-2.0
// CriQuestion: the question of koord-cri-proxy about a pod or container that the kubelet is about to make or update,
// and the answer (core/criproxy/README.md, "The question to the agent"). Pure. [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/hook/composed_answers.hpp"
#include "core/hook/nri/types.hpp"
#include "core/hook/nri/wire.hpp"
#include "core/host/hook_dispatcher.hpp"

namespace koord::hook {

// Kubernetes takes at most 256 KiB of annotations for a pod. A longer question is one of a very large environment.
inline constexpr std::size_t kMostQuestionBytes = 2u << 20;

struct CriQuestion {
  std::uint32_t stage = 0;                                 // KOORD_STAGE_*
  nri::Pod pod;                                            // with the annotations that hooks may see
  std::optional<nri::Container> container = std::nullopt;  // at the stages of containers
};

// Takes one of the stages that the proxy asks at. An error names all of them.
Result<std::uint32_t> parse_cri_stage(std::string_view name);

// An error names the field and what is expected: "pod.uid: expected a text that is not empty".
// `keep`: the annotations of pods that hooks may read.
Result<CriQuestion> read_cri_question(std::uint32_t stage, std::string_view json, const nri::KeepAnnotation& keep);

// The values of a new container, composed with the requested ones, as the fields of an answer.
std::string cri_answer(const host::HookVerdict& verdict, const nri::Resources& requested, bool is_v2,
                       const OtherPartsOf& others = {});
// Refuses the pod or container.
std::string cri_rejection(std::string_view why);

}  // namespace koord::hook
