// SPDX-License-Identifier: Apache-2.0
// Knobs of the node's kernel that a NodeSLO's systemStrategy sets. Pure: values in, proposals out.
#pragma once

#include <cstdint>
#include <optional>

#include "plugins/shared/slo/problems.hpp"
#include "plugins/shared/slo/sections.hpp"
#include "plugins/shared/strategy/intent.hpp"

namespace koord::system_knobs {

struct Plan {
  strategy::Intents intents;
  slo::Problems problems;  // values that were requested and not proposed, and why
};

// `memory`: of the node, bytes; nullopt: unknown, then knobs computed from it are not proposed.
Plan plan(const slo::System& strategy, std::optional<std::int64_t> memory);

}  // namespace koord::system_knobs
