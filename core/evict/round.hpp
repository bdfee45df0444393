// SPDX-License-Identifier: Apache-2.0
// A round: chooses the pods to evict for the requests of one evaluate(), and gives the reason why each other pod stays.
// Requests are handled in their order, pods in theirs. An evicted pod counts for all requests that need what it
// releases. So does a pod that terminates already, for any reason. Pure. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/decision/outcome.hpp"
#include "core/evict/eviction_tracker.hpp"
#include "core/evict/holding.hpp"
#include "core/evict/request.hpp"

namespace koord::evict {

// The state at this moment.
struct RoundInput {
  const state::Snapshot& snapshot;
  const UsageByPod& usage;
  std::string_view own_uid;  // of the agent's pod; empty: not known, or it is in none
  std::string pods_problem;  // why it is not known what pods there are; empty: it is
  Time now{};
  const EvictionTracker* others = nullptr;  // its pods are going, too
};

struct Verdict {
  const state::Pod* pod = nullptr;  // null: of none
  const Request* request = nullptr;
  decision::Outcome outcome = decision::Outcome::evicted;  // evicted: it is to go
  std::string why = {};                                    // it does not
  std::int64_t releases = 0;                               // of what the request is about
  std::int64_t missing = 0;                                // before it
  Holding holding = {};
  bool was_refused = false;  // by the API server, or it would not be asked
};

// Decides `plugin`'s requests with the tracker; changes only its record of picks.
std::vector<Verdict> decide(const std::vector<Request>& requests, std::string_view plugin, EvictionTracker& tracker,
                            const RoundInput& input);

}  // namespace koord::evict
