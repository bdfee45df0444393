// SPDX-License-Identifier: Apache-2.0
// Loads on one CPU: a service with a beat, and a hog. Each runs in a process of its own, in a cgroup of the test.
#pragma once

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <memory>

#include "test/support/child_process.hpp"
#include "test/support/real_cgroup.hpp"

namespace koord::test {

inline constexpr long kMicrosecond = 1000;

// The first CPU that this process may use.
inline void run_on_first_cpu() {
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);
  int first = 0;
  while (!CPU_ISSET(first, &cpus)) ++first;
  CPU_ZERO(&cpus);
  CPU_SET(first, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
}

inline timespec later_by(timespec time, long ns) {
  time.tv_nsec += ns;
  if (time.tv_nsec >= 1'000'000'000) time = {time.tv_sec + 1, time.tv_nsec - 1'000'000'000};
  return time;
}

// 0.5 ms of work each 2 ms.
[[noreturn]] inline void serve() {
  run_on_first_cpu();
  timespec next{};
  clock_gettime(CLOCK_MONOTONIC, &next);
  while (true) {
    timespec begin{}, now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    const timespec end = later_by(begin, 500 * kMicrosecond);
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
    next = later_by(next, 2000 * kMicrosecond);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
  }
}

[[noreturn]] inline void spin() {
  run_on_first_cpu();
  while (true) asm volatile("");
}

// Forks a process that is in that cgroup before it begins.
inline std::unique_ptr<ChildProcess> start_in(const RealCgroup& cgroup, void (*body)()) {
  return std::make_unique<ChildProcess>([&cgroup, body] {
    cgroup.add_process(::getpid());
    body();
  });
}

}  // namespace koord::test
