// SPDX-License-Identifier: Apache-2.0
// Eligibility: pods that are never evicted, and their own labels and annotations about it, as Koordinator names them:
//   annotation koordinator.sh/eviction-policy   a JSON list of features; only these may evict the pod
//   label      koordinator.sh/eviction-enabled  "true": features that go by priority may evict it; another value: no
//   feature may annotation koordetector.sh/hands-off        "true": no feature may
// Strategies go by the same when they pick; here it holds whatever they pick. Pure. [any thread]
#pragma once

#include <string>
#include <string_view>

#include "core/state/pod.hpp"

namespace koord::evict {

// Returns why this pod is never evicted, for humans; empty: it may be.
std::string protection_of(const state::Pod& pod, std::string_view own_uid);

// Returns why this feature does not evict the pod; empty: it may.
std::string opt_out_of(const state::Pod& pod, std::string_view feature);

}  // namespace koord::evict
