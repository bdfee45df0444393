// SPDX-License-Identifier: Apache-2.0
// The strategies that an invalid figure of a NodeSLO makes inactive. The host checks a NodeSLO and names them in a
// member of its own; a text that no host has checked is held against the same rule. For the files of this folder only.
// Pure.
#pragma once

#include <boost/json/fwd.hpp>

#include "plugins/shared/slo/problems.hpp"
#include "plugins/shared/slo/sections.hpp"

namespace koord::slo {

// Where the host names them: {"CPUBurst": "cpuBurstStrategy.cfsQuotaBurstPercent: found 90, expected …"}.
inline constexpr std::string_view kInactiveMember = "koordetector.sh/inactiveStrategies";

// Fills slo.inactive from that member and from `problems`, and takes the figures of those strategies out of `slo`.
void find_inactive(const boost::json::value& spec, const Problems& problems, NodeSlo& slo);

}  // namespace koord::slo
