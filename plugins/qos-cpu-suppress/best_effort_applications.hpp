// SPDX-License-Identifier: Apache-2.0
// Finds the best-effort host applications of a NodeSLO. Pure. [any thread]
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::usage {

// Returns the names of the best-effort applications in a NodeSLO's spec: the applications of the class BE with a cgroup
// below the cgroup of the best-effort pods. Other applications are not affected by limits of best-effort pods.
Result<std::set<std::string>> parse_best_effort_applications(std::string_view node_slo);

}  // namespace koord::usage
