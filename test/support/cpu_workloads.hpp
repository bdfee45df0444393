// SPDX-License-Identifier: Apache-2.0
// Processes that use a CPU, for tests in which one process waits for a different process. Each stays on one CPU.
// Header-only.
#pragma once

#include <doctest/doctest.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "core/base/file.hpp"
#include "test/support/child_process.hpp"
#include "test/support/real_cgroup.hpp"

namespace koord::test {

inline constexpr long kMicrosecond = 1000;

// Runs this thread on the nth CPU that the process may use, from 0; on the last CPU if there are fewer.
inline void run_on_cpu(int nth) {
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);
  int found = 0;
  for (int cpu = 0, left = nth; cpu < CPU_SETSIZE && left >= 0; ++cpu) {
    if (!CPU_ISSET(cpu, &cpus)) continue;
    found = cpu;
    --left;
  }
  CPU_ZERO(&cpus);
  CPU_SET(found, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
}

inline timespec later_by(timespec time, long ns) {
  time.tv_nsec += ns;
  if (time.tv_nsec >= 1'000'000'000) time = {time.tv_sec + 1, time.tv_nsec - 1'000'000'000};
  return time;
}

// Uses the CPU for this long.
inline void work(long ns = 500 * kMicrosecond) {
  timespec begin{}, now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  const timespec end = later_by(begin, ns);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

// Works each 2 ms. Makes up for missed periods when it is late.
[[noreturn]] inline void serve() {
  run_on_cpu(0);
  timespec next{};
  clock_gettime(CLOCK_MONOTONIC, &next);
  while (true) {
    work();
    next = later_by(next, 2000 * kMicrosecond);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
  }
}

// Like serve(), but skips missed periods, so it uses at most a quarter of a CPU.
[[noreturn]] inline void serve_lightly() {
  run_on_cpu(0);
  while (true) {
    work();
    ::usleep(1500);
  }
}

[[noreturn]] inline void spin() {
  run_on_cpu(0);
  while (true) asm volatile("");
}

[[noreturn]] inline void spin_elsewhere() {
  run_on_cpu(1);
  while (true) asm volatile("");
}

inline std::unique_ptr<ChildProcess> start_in(const RealCgroup& cgroup, void (*body)()) {
  return std::make_unique<ChildProcess>([&cgroup, body] {
    cgroup.add_process(::getpid());
    body();
  });
}

// Sets cpu.weight, or the equal cpu.shares. The kernel's default weight is 100.
inline void set_weight(const RealCgroup& cgroup, int weight) {
  const std::string directory = cgroup.path(cgroup::Controller::cpu);
  const bool is_v2 = ::access((directory + "/cpu.weight").c_str(), F_OK) == 0;
  const auto written = is_v2 ? write_value(directory + "/cpu.weight", std::to_string(weight))
                             : write_value(directory + "/cpu.shares", std::to_string(weight * 1024 / 100));
  REQUIRE(written);
}

}  // namespace koord::test
