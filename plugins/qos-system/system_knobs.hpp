// SPDX-License-Identifier: Apache-2.0
// Computes the kernel knobs of a NodeSLO's systemStrategy. Pure: values in, proposals out.
#pragma once

#include <cstdint>
#include <optional>

#include "plugins/shared/slo/problems.hpp"
#include "plugins/shared/slo/sections.hpp"
#include "plugins/shared/strategy/intent.hpp"

namespace koord::system_knobs {

struct Plan {
  strategy::Intents intents;
  slo::Problems problems;  // values that were requested but not proposed, with the reason
};

// `memory`: the node's memory in bytes; nullopt: unknown, so knobs computed from it are not proposed.
Plan plan(const slo::System& strategy, std::optional<std::int64_t> memory);

}  // namespace koord::system_knobs
