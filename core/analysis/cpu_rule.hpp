// SPDX-License-Identifier: Apache-2.0
// The rule for the CPU: judges one container in one window. Pure. [any thread]
//
// The figure for harm is H(x), the share of requests that are held up for more than x. It is estimated from waits for a
// CPU, see README.md. Time throttled by the container's own quota is no part of a wait.
#pragma once

#include <vector>

#include "core/analysis/verdict.hpp"

namespace koord::analysis {

// The time and the waits of a container's threads in a window, in seconds per second.
struct CpuWindow {
  Subject subject = 0;
  double run = 0;          // CPUs that it used
  double wait = 0;         // in waits of any length
  double throttled = 0;    // by its own quota, or that of a cgroup above it
  double usable_cpus = 0;  // the smaller of cpuset and quota
  double held_up = 0;      // H(1 ms)
  // The parts of waits of 1 ms and more:
  double self = 0;         // behind its own threads
  double unexplained = 0;  // without a known cause
  std::vector<Suspect> others;
  // How long the CPUs of its cpuset ran nothing, in CPUs, and the others that used them: their usage counts, not
  // `waited`. Only for a container that waits behind its own threads.
  double idle = 0;
  std::vector<Suspect> neighbours;
  // The part of `throttled` by a cgroup above it, and the other containers below that: their usage counts, not
  // `waited`.
  double throttled_above = 0;
  bool is_quota_known = true;  // false: which quota throttled it is not known yet
  std::vector<Suspect> sharers;
};

// Each a setting. Seconds per second are the same as shares of time.
struct CpuRule {
  double throttled = 0.010;       // least throttled time for self_quota and shared_parent
  double held_up = 0.010;         // least H(1 ms)
  double over_quiet = 2.5;        // H(1 ms) of others must be this many times that of quiet windows
  double latency_cpus = 1;        // one that runs or waits for others for less than this is judged by H(1 ms) …
  double throughput_run = 0.3;    // … any other, and one that uses at least this, by the throughput that it loses
  double lost_throughput = 0.15;  // of what it would have had
  double estimated = 0.1;         // a finding with a larger displaced part of all waits is estimated
};

// The result for one window; Kind::none: nothing holds it up.
struct Finding {
  Kind kind = Kind::none;
  Statistic statistic;                    // without a finding: held_up_by_others
  double held_up_by_others = 0;           // the part of H(1 ms)
  std::vector<Suspect> suspects;          // the longest wait first; waits for them, and those displaced (see README.md)
  double self = 0;                        // waits behind own threads that others do not cause
  double throttled = 0, unexplained = 0;  // throttled: without the part of sharers
  Method method = Method::exact;
};

// `quiet`: H(1 ms) of others in this container's quiet windows, 0 while it is not known.
Finding judge(const CpuWindow& window, double quiet, const CpuRule& rule = {});

}  // namespace koord::analysis
