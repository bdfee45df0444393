// SPDX-License-Identifier: Apache-2.0
// Reads the kernel's monotonic clock, which BPF programs also read.
#pragma once

#include <time.h>

#include <cstdint>

namespace koord::test {

inline std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace koord::test
