// SPDX-License-Identifier: Apache-2.0
// Amounts: observed or predicted CPU in milli-cores and memory in bytes, as plain values. They are never negative.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/saturating.hpp"

namespace koord::predict {

struct Amounts {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;

  // Saturates at the largest value, because requests of pods may be absurdly large.
  Amounts& operator+=(const Amounts& other) {
    cpu_milli = saturating_sum(cpu_milli, other.cpu_milli);
    memory_bytes = saturating_sum(memory_bytes, other.memory_bytes);
    return *this;
  }
  bool operator==(const Amounts&) const = default;
};

inline Amounts operator-(const Amounts& a, const Amounts& b) {
  return {a.cpu_milli - b.cpu_milli, a.memory_bytes - b.memory_bytes};
}
inline Amounts least(const Amounts& a, const Amounts& b) {
  return {std::min(a.cpu_milli, b.cpu_milli), std::min(a.memory_bytes, b.memory_bytes)};
}
inline Amounts most(const Amounts& a, const Amounts& b) {
  return {std::max(a.cpu_milli, b.cpu_milli), std::max(a.memory_bytes, b.memory_bytes)};
}

// The usage as measured.
struct Usage {
  double cpu_cores = 0;
  double memory_bytes = 0;

  Usage& operator+=(const Usage& other) {
    cpu_cores += other.cpu_cores;
    memory_bytes += other.memory_bytes;
    return *this;
  }
  bool operator==(const Usage&) const = default;
};

}  // namespace koord::predict
