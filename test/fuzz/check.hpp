// SPDX-License-Identifier: Apache-2.0
// The check of a fuzz target: a condition that does not hold ends the process, which the fuzzer reports.
#pragma once

#include <cstdlib>

inline void check(bool holds) {
  if (!holds) std::abort();
}
