// SPDX-License-Identifier: Apache-2.0
// Host applications of a NodeSLO that are best-effort. Pure. [any thread]
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::usage {

// The names of the applications of a NodeSLO's spec that are best-effort: of the class BE, with a cgroup that counts
// from the best-effort pods'. Those without it run where nothing that is done to best-effort pods reaches them.
Result<std::set<std::string>> parse_best_effort_applications(std::string_view node_slo);

}  // namespace koord::usage
