// SPDX-License-Identifier: Apache-2.0
// A NodeSLO's sections from the text that koord.state/1 has of it. Parse it once a version of KOORD_ON_NODE_SLO. Pure.
#pragma once

#include <string_view>

#include "core/base/result.hpp"
#include "plugins/shared/slo/problems.hpp"
#include "plugins/shared/slo/sections.hpp"

namespace koord::slo {

struct ParsedSlo {
  NodeSlo slo;
  Problems problems;  // the host has checked it, so only a newer host's NodeSLO has any
};

// For an empty text: no section at all, which is "unknown", not "everything off". An error: no JSON mapping.
Result<ParsedSlo> parse_node_slo(std::string_view spec);

}  // namespace koord::slo
