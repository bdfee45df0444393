// SPDX-License-Identifier: Apache-2.0
// Decision records of the answers of hooks at a creation or an update: a record for each field, factor, conflict,
// rejection and missing answer. Texts of plugins are cut, and their control characters replaced. The values of
// environment variables that the pod's spec gives are not recorded: they may be secrets. Pure. [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decision/decision.hpp"
#include "core/hook/nri/types.hpp"
#include "core/host/hook_dispatcher.hpp"
#include "core/state/pod.hpp"

namespace koord::hook {

// The request of the runtime, as far as records show it.
struct Requested {
  nri::Resources resources = {};
  nri::TextMap annotations = {};
  std::vector<std::string> variables = {};  // names
  std::optional<std::int64_t> oom_score_adj = {};
};
Requested requested_of(const nri::Container& container);

struct AnswerSubject {
  std::string_view asked_by;  // "NRI"
  const state::Pod& pod;
  const state::Container* container = nullptr;  // null at the stages of pods
  const Requested& requested;
  nri::Resources resources = {};  // that the runtime gets
};

// The limit for one question. The last record says how many were left out.
inline constexpr std::size_t kMostRecords = 64;
inline constexpr std::size_t kMostRecordText = 256;

// `answered`: by the hooks. `given`: to the runtime, without values that the pod's owner excludes, and after
// choose_settings().
std::vector<decision::Decision> records_of(const AnswerSubject& subject, const host::HookVerdict& answered,
                                           const host::HookVerdict& given);

}  // namespace koord::hook
