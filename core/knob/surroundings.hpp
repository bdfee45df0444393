// SPDX-License-Identifier: Apache-2.0
// Reads what the planner has to know of the cgroups around those that are changed. [any thread]
#pragma once

#include <set>
#include <span>
#include <string>

#include "core/knob/knob_files.hpp"
#include "core/knob/planner.hpp"

namespace koord::knob {

Surroundings read_surroundings(const KnobFiles& files, std::span<Step* const> steps,
                               const std::set<std::string>& pinned);

}  // namespace koord::knob
