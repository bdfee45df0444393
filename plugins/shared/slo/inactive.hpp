// SPDX-License-Identifier: Apache-2.0
// Finds the strategies that an invalid value of a NodeSLO makes inactive. The host checks a NodeSLO and lists them in
// its own member. The same rule is applied to a text that no host has checked. Only for the files of this folder. Pure.
#pragma once

#include <boost/json/fwd.hpp>

#include "plugins/shared/slo/problems.hpp"
#include "plugins/shared/slo/sections.hpp"

namespace koord::slo {

// The member in which the host lists the inactive strategies: {"CPUBurst": "cpuBurstStrategy.cfsQuotaBurstPercent:
// found 90, expected …"}.
inline constexpr std::string_view kInactiveMember = "koordetector.sh/inactiveStrategies";

// Fills slo.inactive from that member and from `problems`, and removes the values of those strategies from `slo`.
void find_inactive(const boost::json::value& spec, const Problems& problems, NodeSlo& slo);

}  // namespace koord::slo
