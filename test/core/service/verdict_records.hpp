// SPDX-License-Identifier: Apache-2.0
// Verdicts as records of the plugin ABI, for tests.
#pragma once

#include <cmath>

#include "koordetector/plugin.hpp"

namespace koord::test {

// Returns a valid verdict. A test makes one of its members invalid.
inline koord_verdict abi_verdict(std::uint64_t victim) {
  koord_verdict verdict = {};
  verdict.struct_size = sizeof verdict;
  verdict.kind = KOORD_VERDICT_INTERFERED;
  verdict.resource = KOORD_RESOURCE_MEMORY;
  verdict.method = KOORD_METHOD_SUSPECTED;
  verdict.victim = victim;
  verdict.from_ns = 1;
  verdict.to_ns = 2;
  verdict.windows_over = 3;
  verdict.windows_seen = 5;
  verdict.statistic = plugin::str("refaults");
  verdict.statistic_unit = plugin::str("1/s");
  verdict.value = 12;
  verdict.baseline = std::nan("");
  verdict.threshold = 10;
  verdict.amount_unit = plugin::str("seconds/second");
  verdict.own = 0.01;
  verdict.throttled = 0;
  verdict.unexplained = std::nan("");
  return verdict;
}

inline koord_suspect abi_suspect(std::uint32_t kind, std::uint64_t subject, std::string_view name = {}) {
  koord_suspect suspect = {};
  suspect.struct_size = sizeof suspect;
  suspect.kind = kind;
  suspect.subject = subject;
  suspect.name = plugin::str(name);
  suspect.value = 0.03;
  suspect.share = 0.5;
  suspect.excess = -0.01;
  suspect.usage = 1.5;
  suspect.request = std::nan("");
  return suspect;
}

}  // namespace koord::test
