// SPDX-License-Identifier: Apache-2.0
// A NodeSLO as it came becomes what holds on this node. Names match as in Go, null keeps the default, unknown fields
// stay. An invalid value is reported, and the default takes its place; but where it belongs to a strategy that
// suppresses, evicts, raises quotas or splits caches, that strategy is inactive (slo_inactive.hpp). A class's section
// that is off has the values that undo it. One way for all sources. Pure. [any thread]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/state/hub.hpp"

namespace koord::state {

// A value that was not taken.
struct SloProblem {
  std::string path;   // "resourceUsedThresholdWithBE.cpuSuppressThresholdPercent", below the spec
  std::string found;  // JSON, shortened
  std::string expected;
  std::string inactive =
      {};  // strategies that it makes inactive, "BEMemoryEvict, MemoryEvict"; empty: the default holds

  bool operator==(const SloProblem&) const = default;
};
std::string text_of(const SloProblem& problem);  // "PATH: found 130, expected an integer from 0 to 100"

struct EffectiveSlo {
  std::string spec;  // JSON, names in their canonical form and order, what is unknown behind them
  std::vector<SloProblem> problems;
};

// `spec`: of a NodeSLO, JSON; "" or "{}": none, which gives the defaults. An error: not a JSON mapping.
Result<EffectiveSlo> effective_slo(std::string_view spec);

// Returns the update of a NodeSLO object (JSON or YAML; without `spec` it is the spec itself): the effective and the
// received one.
Result<Update> slo_update(std::string_view object);

}  // namespace koord::state
