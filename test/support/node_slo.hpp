// SPDX-License-Identifier: Apache-2.0
// The NodeSLO as plugins see it on a node where this spec came.
#pragma once

#include <string>
#include <string_view>

#include "core/state/slo.hpp"

namespace koord::test {

inline std::string node_slo_of(std::string_view spec) { return state::effective_slo(spec).value().spec; }

}  // namespace koord::test
