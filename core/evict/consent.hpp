// SPDX-License-Identifier: Apache-2.0
// Consent: who is never evicted, whatever is short, and what pods say of themselves, in Koordinator's words:
//   annotation koordinator.sh/eviction-policy   a JSON list of features; only these may evict the pod
//   label      koordinator.sh/eviction-enabled  "true": features that go by priority may evict it; another value: nobody may
//   annotation koordetector.sh/hands-off        "true": nobody may
// Strategies go by the same when they pick; here it holds whatever they pick. Pure. [any thread]
#pragma once

#include <string>
#include <string_view>

#include "core/state/pod.hpp"

namespace koord::evict {

// Why nobody evicts this pod, for humans; empty: it may be.
std::string protection_of(const state::Pod& pod, std::string_view own_uid);

// Why this feature does not.
std::string opt_out_of(const state::Pod& pod, std::string_view feature);

}  // namespace koord::evict
