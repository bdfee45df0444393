// SPDX-License-Identifier: Apache-2.0
// The texts of knobs of processes, both ways. Pure. [any thread]
//
//   oom_score_adj     "500 1200..1950 77@1900=-998": most processes have 500; the oldest of these started 1200 clock
//                     ticks after the boot, the newest of all at 1950; process 77, started at 1900, has -998
//   core_sched.group  a line for each group: "NAME#COOKIE", "#COOKIE" of another program's, "#0" without a group.
//                     Before the first write a group has no cookie: "NAME#"
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/knob/knob.hpp"

namespace koord::knob {

// A number may belong to another process later; with the start it does not.
struct ProcessId {
  std::int32_t pid = 0;
  std::uint64_t start = 0;  // clock ticks after the boot

  auto operator<=>(const ProcessId&) const = default;
};

struct Scores {
  std::int64_t main = 0;  // of the oldest process, and of each that is not in `others`
  std::uint64_t oldest = 0, newest = 0;
  std::map<ProcessId, std::int64_t> others = {};

  std::int64_t of(const ProcessId& process) const {
    const auto found = others.find(process);
    return found == others.end() ? main : found->second;
  }
};

Result<Scores> parse_scores(std::string_view text);
std::string text_of(const Scores& scores);
std::string encode_scores(const Value& value);
Result<Value> decode_scores(std::string_view text);
std::string spell_scores(const Value& value);
// As a field of a value, "77@1900".
std::string name_of(const ProcessId& process);
Result<ProcessId> parse_process(std::string_view name);

inline constexpr std::size_t kMostGroupName = 253;

// In fields of values, the name of a group that another program made begins with this; no proposed name has it.
inline constexpr char kForeignGroup = '\n';

// The name and the cookie; cookie 0: none, or not known yet.
using CoreGroupLine = std::pair<std::string, std::uint64_t>;
Result<std::vector<CoreGroupLine>> parse_core_groups(std::string_view text);
std::string text_of(const std::vector<CoreGroupLine>& groups);
Result<Value> parse_core_group(const Knob& knob, std::string_view text);
std::string encode_core_groups(const Fields& groups);
Result<Value> decode_core_groups(std::string_view text);
std::string spell_core_groups(const Fields& groups);

}  // namespace koord::knob
