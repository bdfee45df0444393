// SPDX-License-Identifier: Apache-2.0
// The check of a fuzz target: ends the process if a condition is false, and the fuzzer reports that.
#pragma once

#include <cstdlib>

inline void check(bool holds) {
  if (!holds) std::abort();
}
