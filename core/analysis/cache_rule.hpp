// SPDX-License-Identifier: Apache-2.0
// The rule for CPU caches and memory bandwidth: judges one container in one window. Pure. [any thread]
//
// The measure of harm is cycles per instruction (CPI), compared with the usual CPI of the workload. The CPU does not
// count which container evicted the cache lines of a different one. So a suspect is a container with an activity that
// correlates with the CPI, and a finding is always `suspected`.
#pragma once

#include <vector>

#include "core/analysis/cpu_rule.hpp"

namespace koord::analysis {

// Counters of a container in a window.
struct CacheWindow {
  Subject subject = 0;
  bool is_counted = false;  // false: no counters, the other members are unknown
  double usage = 0;         // in CPUs
  // Per second; 0: the container did not run, or the event is not counted.
  double cycles = 0, instructions = 0;
  double llc_misses = 0;  // misses of the last-level cache
};

// The settings of the rule.
struct CacheRule {
  double deviations = 2;          // CPI is too high if it exceeds the usual CPI by this many standard deviations …
  double slow_down = 0.05;        // … and by this part
  double victim_usage = 0.25;     // in CPUs; the CPI of a container with less usage is not judged
  double suspect_usage = 0.25;    // in CPUs; a container with less usage is not a suspect
  double own_load = 2;            // a load that rises by this many standard deviations explains the CPI
  double correlation = 0.5;       // minimum correlation of the CPI with a suspect's CPU use or misses
  int windows = 12, of_them = 8;  // too high CPI is judged if `of_them` of the last `windows` windows have it
};

// The CPI of a workload's windows; `mean` 0: unknown.
struct UsualCpi {
  double mean = 0, deviation = 0;
};

// Another container, and the correlation of the victim's CPI with it: from -1 to 1.
struct CacheNeighbour {
  Subject subject = 0;
  double usage = 0;  // in CPUs
  double correlation = 0;
};

// Returns cycles per instruction; 0 if the container had no counters, or used too little CPU.
double cpi_of(const CacheWindow& window, const CacheRule& rule);

// Returns the CPI above which CPI is too high; 0: unknown.
double cpi_limit(const UsualCpi& usual, const CacheRule& rule);

// Judges a window with too high CPI, after enough other such windows. `own_load`: by how many standard deviations the
// container's load is higher in such windows than in others; interference does not increase it. If there is no suspect,
// the result has no finding, because the code of the container may have changed.
//
// The CPU time of the additional cycles is divided in proportion to the squares of the correlations, because r² is the
// explained part of the CPI's variance.
Finding judge_cache(const CacheWindow& window, const UsualCpi& usual, double own_load,
                    const std::vector<CacheNeighbour>& neighbours, const CacheRule& rule = {});

}  // namespace koord::analysis
