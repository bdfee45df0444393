// SPDX-License-Identifier: Apache-2.0
// Makes the NodeSLO that plugins read on a node with this spec.
#pragma once

#include <string>
#include <string_view>

#include "core/state/slo.hpp"

namespace koord::test {

inline std::string node_slo_of(std::string_view spec) { return state::effective_slo(spec).value().spec; }

}  // namespace koord::test
