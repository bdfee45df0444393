// SPDX-License-Identifier: Apache-2.0
// The pods that a request names: by uid, NAMESPACE/NAME, or NAME alone. [any thread]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/state/snapshot.hpp"

namespace koord::agentd {

std::vector<const state::Pod*> pods_named(const state::Snapshot& snapshot, std::string_view title);

// For an answer to a name that no pod has, or that several have.
std::string no_pod_named(std::string_view title);
std::string several_pods_named(std::string_view title, const std::vector<const state::Pod*>& pods);

}  // namespace koord::agentd
