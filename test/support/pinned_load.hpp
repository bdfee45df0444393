// SPDX-License-Identifier: Apache-2.0
// Loads on one CPU: a service that works periodically, and a process that uses all the time it gets. Each runs as its
// own process in a cgroup of the test.
#pragma once

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "test/support/child_process.hpp"
#include "test/support/real_cgroup.hpp"

namespace koord::test {

inline constexpr long kMicrosecond = 1000;

// Returns the CPUs that the cgroup of this process may use.
inline cpu_set_t usable_cpus() {
  cpu_set_t cpus;
  std::memset(&cpus, 0xff, sizeof cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);  // the kernel leaves out CPUs outside of the cgroup's cpuset
  sched_getaffinity(0, sizeof cpus, &cpus);
  return cpus;
}

inline int first_of(const cpu_set_t& cpus) {
  int first = 0;
  while (!CPU_ISSET(first, &cpus)) ++first;
  return first;
}

inline void run_on_first_cpu() {
  const int first = first_of(usable_cpus());
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(first, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
}

// Moves this process, and those that it starts later, to other CPUs, so they do not disturb the loads.
inline void run_on_other_cpus() {
  cpu_set_t cpus = usable_cpus();
  if (CPU_COUNT(&cpus) == 1) return;
  CPU_CLR(first_of(cpus), &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
}

inline timespec later_by(timespec time, long ns) {
  time.tv_nsec += ns;
  if (time.tv_nsec >= 1'000'000'000) time = {time.tv_sec + 1, time.tv_nsec - 1'000'000'000};
  return time;
}

// Works 0.5 ms in each 2 ms.
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

// Forks a process that joins the cgroup before it runs `body`.
inline std::unique_ptr<ChildProcess> start_in(const RealCgroup& cgroup, void (*body)()) {
  return std::make_unique<ChildProcess>([&cgroup, body] {
    cgroup.add_process(::getpid());
    body();
  });
}

}  // namespace koord::test
