// SPDX-License-Identifier: Apache-2.0
// PostedWaits: the waits of all cgroups, which advisor-interference passes to advisor-sched-latency. Both plugins need
// the same scheduler events, and one BPF program at each context switch costs half as much as two. The plugins may run
// in different processes and each may end at any time. Therefore they share no kernel objects, but pass values as keys
// of koord.kv/1:
//
//   advisor-sched-latency sets kWaitsRequest, with a time to live, while it needs the waits;
//   advisor-interference sets kPostedWaits every few seconds while that key exists.
//
// Pure. [any thread]
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "plugins/shared/latency/waits.hpp"
#include "plugins/shared/latency/windows.hpp"

namespace koord::latency {

// Keys in the form that other plugins read: "<plugin id>/<own key>".
inline constexpr std::string_view kPostedWaits = "advisor-interference/waits";
inline constexpr std::string_view kWaitsRequest = "advisor-sched-latency/wants-waits";
inline constexpr std::chrono::seconds kRequestLifetime{20};
inline constexpr std::chrono::seconds kPostLifetime{30};

struct PostedWaits {
  std::uint64_t session = 0;  // identifies the programs: totals of different sessions are not comparable
  std::uint64_t number = 0;   // number of the post, ascending in a session
  Reading<Waits> reading;     // `ended` has the cgroups that ended since the previous post
};

// Returns the key without the plugin id.
constexpr std::string_view own_key(std::string_view key) { return key.substr(key.find('/') + 1); }

std::string write_posted_waits(const PostedWaits& posted);
// Parses the text of write_posted_waits(); fails on any other text.
Result<PostedWaits> read_posted_waits(std::string_view text);

}  // namespace koord::latency
