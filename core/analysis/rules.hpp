// SPDX-License-Identifier: Apache-2.0
// Rules: all constants of the verdict about the CPU, with their defaults. Plain values. [any thread]
#pragma once

#include "core/analysis/baseline.hpp"
#include "core/analysis/cpu_rule.hpp"
#include "core/analysis/verdict_tracker.hpp"
#include "core/base/result.hpp"

namespace koord::analysis {

struct Rules {
  CpuRule cpu;
  ConfirmationRule confirmation;
  BaselineRule baseline;
};

// Fails if a value is out of its bounds, or two of them do not fit together. Names the setting, its value and what is
// expected.
Result<void> check(const Rules& rules);

}  // namespace koord::analysis
