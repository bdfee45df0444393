// SPDX-License-Identifier: Apache-2.0
// Which knobs of the node's kernel a NodeSLO's systemStrategy asks for. Pure: values in, wishes out.
#pragma once

#include <cstdint>
#include <optional>

#include "plugins/shared/slo/problems.hpp"
#include "plugins/shared/slo/sections.hpp"
#include "plugins/shared/strategy/wish.hpp"

namespace koord::system_knobs {

struct Plan {
  strategy::Wishes wishes;
  slo::Problems problems;  // what was asked for and is not wished, and why
};

// `memory`: of the node, bytes; nullopt: not known, then what is reckoned from it is not wished.
Plan plan(const slo::System& strategy, std::optional<std::int64_t> memory);

}  // namespace koord::system_knobs
