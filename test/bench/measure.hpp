// SPDX-License-Identifier: Apache-2.0
// Shared by the benchmarks: CPU time of a piece of work, medians, and the common output format.
#pragma once

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace koord::bench {

// Returns the CPU seconds of this process.
inline double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <class Work>
double cpu_seconds_of(Work&& work) {
  double start = cpu_seconds();
  work();
  return cpu_seconds() - start;
}

inline double median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Prints "name  ours 1.234 ms  bare pread loop 1.000 ms  ratio 1.23  target <= 1.3".
inline void print_ratio(const std::string& name, double ours, const char* reference_name, double reference,
                        const char* unit, double target) {
  std::printf("%-44s ours %10.3f %s  %s %10.3f %s  ratio %6.2f  target <= %.2f\n", name.c_str(), ours, unit,
              reference_name, reference, unit, ours / reference, target);
  std::fflush(stdout);
}

}  // namespace koord::bench
