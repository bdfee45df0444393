// SPDX-License-Identifier: Apache-2.0
// Finds the pods that a request names by uid, NAMESPACE/NAME or NAME, and the response while the pods are unknown. [any
// thread]
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/state/snapshot.hpp"

namespace koord::api {

struct ApiSources;

std::vector<const state::Pod*> pods_named(const state::Snapshot& snapshot, std::string_view title);

// Return the error texts: no pod has the name, or several pods have it.
std::string no_pod_named(std::string_view title);
std::string several_pods_named(std::string_view title, const std::vector<const state::Pod*>& pods);

// The first part of the state module's line in /readyz before the first list of pods; ": " and the reason follow.
inline constexpr std::string_view kPodsUnknown = "pods are not known yet";

// Returns why no list of pods has arrived yet, "" if the reason is unknown; nullopt if a list has arrived.
std::optional<std::string> why_pods_unknown(const ApiSources& sources);
// Returns "pods are not known yet: REASON".
std::string pods_unknown_because(const std::string& reason);

}  // namespace koord::api
