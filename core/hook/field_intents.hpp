// SPDX-License-Identifier: Apache-2.0
// A hook's answer after creation: fields that are knobs of a cgroup become intents, a value the base of its knob and a
// factor a scale. The other fields (environment, annotations, devices, mounts, swap) have an effect only while a pod or
// container is created; oom_score_adj and core_sched.group of a pod, too: they are knobs of containers. Pure.
// [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/hook_response.hpp"
#include "core/knob/intent.hpp"

namespace koord::hook {

// The priority of all intents of hooks, above those of our strategies.
inline constexpr std::int32_t kHookPriority = 1000;

// The pod's or container's cgroup that an answer is for.
struct AnswerTarget {
  decision::Level level = decision::Level::pod;
  std::string cgroup_dir;
  std::string reason;  // of the decision records: "the answer for container main of shop/web"
  std::int32_t priority = 0;
  Duration ttl{};
  bool has_own_cpus = false;  // factors that would throttle it are left out
};

// The knob that a field sets on an existing pod; empty: none.
std::string_view knob_of(std::string_view field);

// The value of a field that is a knob, as an intent has it. `period`: of a quota, in µs; empty: that of runtimes.
std::string knob_value_of(std::string_view field, const std::string& value, std::string_view period);

// The names of the answer's fields that only a creation sets: environment, annotations, devices, mounts. The first 32,
// each cut to 128 bytes.
std::vector<std::string> creation_fields(const host::HookSettings& answer);

// Whether the factor reduces the CPU quota. It would throttle a container that has CPUs of its own.
bool is_throttling(std::string_view field, double factor);

// Drops what has no effect on an existing pod: fields that are no knob, and values longer than any knob's.
void keep_knobs(host::HookSettings& answer);

// The fields are valid (host/hook_fields.hpp) and kept by keep_knobs().
knob::Plan intents_of(const host::HookSettings& answer, const AnswerTarget& target);

}  // namespace koord::hook
