// SPDX-License-Identifier: Apache-2.0
// PostedWaits: the waits of all cgroups, as advisor-interference hands them to advisor-sched-latency. Both plugins need
// the same events of the scheduler, and one program at each switch costs half of two. The plugins may run in different
// processes and each may end at any time, so values are passed, as a key of koord.kv/1, and nothing in the kernel is
// shared:
//
//   advisor-sched-latency keeps kWaitsRequest, with a time to live, while it wants them;
//   advisor-interference sets kPostedWaits every few seconds while it finds that key.
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

// Names of keys as other plugins read them: "<plugin id>/<own key>".
inline constexpr std::string_view kPostedWaits = "advisor-interference/waits";
inline constexpr std::string_view kWaitsRequest = "advisor-sched-latency/wants-waits";
inline constexpr std::chrono::seconds kRequestLifetime{20};
inline constexpr std::chrono::seconds kPostLifetime{30};

struct PostedWaits {
  std::uint64_t session = 0;  // of the programs: the totals of another one do not continue these
  std::uint64_t number = 0;   // of the post, ascending in a session
  Reading<Waits> reading;     // ended: since the post before
};

// The key of a plugin itself.
constexpr std::string_view own_key(std::string_view key) { return key.substr(key.find('/') + 1); }

std::string write_posted_waits(const PostedWaits& posted);
// Fails if it was not written by write_posted_waits().
Result<PostedWaits> read_posted_waits(std::string_view text);

}  // namespace koord::latency
