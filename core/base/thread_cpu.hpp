// SPDX-License-Identifier: Apache-2.0
// The CPU time of the calling thread. [any thread]
#pragma once

#include <ctime>

#include "core/base/clock.hpp"

namespace koord {

// Since the thread began. A system call, unlike reading the monotonic clock.
inline Duration thread_cpu() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

}  // namespace koord
