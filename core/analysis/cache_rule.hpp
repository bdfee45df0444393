// SPDX-License-Identifier: Apache-2.0
// The rule for caches of the CPU and memory bandwidth: judges one container in one window. Pure. [any thread]
//
// The figure for harm is cycles per instruction (CPI), beside those that the workload usually takes. The
// machine does not count which container displaced the cache lines of another. So a suspect is a
// container with which the CPI rises and falls, and a finding is always `suspected`.
#pragma once

#include <vector>

#include "core/analysis/cpu_rule.hpp"

namespace koord::analysis {

// Counters of a container in a window.
struct CacheWindow {
  Subject subject = 0;
  bool is_counted = false;  // false: it had no counters, the rest is unknown
  double usage = 0;         // CPUs that it used
  // Per second; 0: it did not run, or the event is not counted.
  double cycles = 0, instructions = 0;
  double llc_misses = 0;  // of the last-level cache
};

// Each a setting.
struct CacheRule {
  double deviations = 2;          // CPI above the usual one by this many standard deviations is too many …
  double slow_down = 0.05;        // … if it is above it by this part, too
  double victim_usage = 0.25;     // CPUs; the CPI of a container that uses less says nothing
  double suspect_usage = 0.25;    // CPUs; a container that uses less is no suspect
  double own_load = 2;            // a load that rises by this many standard deviations with the CPI explains it
  double correlation = 0.5;       // of the CPI with a suspect's CPU use or misses, at least
  int windows = 12, of_them = 8;  // with too many CPI; fewer are an accident
};

// CPI of a workload's windows; `mean` 0: not known yet.
struct UsualCpi {
  double mean = 0, deviation = 0;
};

// Another container, and how the victim's CPI goes with it: from -1 to 1.
struct CacheNeighbour {
  Subject subject = 0;
  double usage = 0;  // CPUs
  double correlation = 0;
};

// Cycles per instruction; 0: the container had no counters, or used too little CPU.
double cpi_of(const CacheWindow& window, const CacheRule& rule);

// The CPI above which there are too many; 0: not known.
double cpi_limit(const UsualCpi& usual, const CacheRule& rule);

// For a window with too many CPI, after enough others. `own_load`: by how many standard deviations the container's load
// is higher in such windows than in others. Interference does not make it more. Without a suspect there is no finding:
// the code of the container may have changed.
//
// The CPU time of the additional cycles is divided by the squares of the correlations, which are parts of the CPI's
// variance.
Finding judge_cache(const CacheWindow& window, const UsualCpi& usual, double own_load,
                    const std::vector<CacheNeighbour>& neighbours, const CacheRule& rule = {});

}  // namespace koord::analysis
