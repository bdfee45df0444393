// SPDX-License-Identifier: Apache-2.0
// Fuzzing a plugin: random sessions, each from a seed, each in a process of its own. The host keeps to plugin.h all the
// time, but the files of the sample node are garbled, pods odd, services refuse, time jumps, tables and records are of
// other versions. A session that crashes or breaks the contract is a finding; its seed reproduces it. [any thread of a
// process that has one]
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/result.hpp"

namespace koord::check {

struct FuzzSettings {
  std::uint64_t seed = 1;  // of the first session; the next has the next
  std::uint64_t sessions = 200;
  std::string config_json = "{}";
};

struct FuzzFinding {
  std::uint64_t seed = 0;
  std::string detail;  // how the session ended, in which call, at which step
};

// Ends with the first finding. `lived` receives the number of sessions that are over. An error: the plugin cannot be
// run at all.
Result<std::optional<FuzzFinding>> fuzz_plugin(const std::string& path, const FuzzSettings& settings,
                                               const std::function<void(std::uint64_t sessions)>& lived);

}  // namespace koord::check
