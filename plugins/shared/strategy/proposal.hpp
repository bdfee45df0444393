// SPDX-License-Identifier: Apache-2.0
// Passes the plan of one evaluate() to the host.
#pragma once

#include "koordetector/plugin.hpp"
#include "plugins/shared/strategy/intent.hpp"

namespace koord::strategy {

// The host accepts at most this many intents of one plugin in a round (PluginContext::kMaxPlan). A larger plan is
// refused as a whole.
inline constexpr std::size_t kMostIntents = 10'000;

// Proposes all intents, or throws a Failure. `ttl`: how long the intents are valid without repetition; a few periods.
// [in-call: evaluate]
void propose(const koord_host* host, const koord_svc_knobs* knobs, const Intents& intents,
             std::chrono::nanoseconds ttl);

}  // namespace koord::strategy
