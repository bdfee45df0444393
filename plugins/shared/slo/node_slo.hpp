// SPDX-License-Identifier: Apache-2.0
// Parses the sections of a NodeSLO from its text in koord.state/1. Parse it only when the version of the
// snapshot's KOORD_ON_NODE_SLO has changed. Pure.
#pragma once

#include <string_view>

#include "core/base/result.hpp"
#include "plugins/shared/slo/problems.hpp"
#include "plugins/shared/slo/sections.hpp"

namespace koord::slo {

struct ParsedSlo {
  NodeSlo slo;
  Problems problems;  // the host has checked the text, so only the NodeSLO of a newer host has problems
};

// Parses the text. An empty text gives no section, which means "unknown", not "everything off". Fails if the text is
// not a JSON mapping.
Result<ParsedSlo> parse_node_slo(std::string_view spec);

}  // namespace koord::slo
