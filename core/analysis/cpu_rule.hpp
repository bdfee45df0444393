// SPDX-License-Identifier: Apache-2.0
// The rule for the CPU: judges one container in one window. Pure. [any thread]
//
// The measure of harm is H(x), the share of requests that are held up for more than x. It is estimated from waits for a
// CPU, see README.md. Time throttled by the container's own quota is not part of a wait.
#pragma once

#include <vector>

#include "core/analysis/verdict.hpp"

namespace koord::analysis {

// The run time and the waits of a container's threads in a window, in seconds per second.
struct CpuWindow {
  Subject subject = 0;
  double run = 0;          // CPU usage
  double wait = 0;         // time in waits of any length
  double throttled = 0;    // time throttled by its own quota or by an ancestor's quota
  double usable_cpus = 0;  // the smaller of cpuset and quota
  double held_up = 0;      // H(1 ms)
  // The parts of the waits of at least 1 ms:
  double self = 0;         // waits behind its own threads
  double unexplained = 0;  // waits without a known cause
  std::vector<Suspect> others;
  // The idle time of the CPUs in its cpuset, in CPUs, and the other users of these CPUs (only their `usage` is set, not
  // `waited`). Set only for a container that waits behind its own threads.
  double idle = 0;
  std::vector<Suspect> neighbours;
  double throttled_above = 0;  // the part of `throttled` that an ancestor's quota causes
  bool is_quota_known = true;  // false: the throttling quota is not known yet
  // The other containers below the ancestor with this quota; only their `usage` is set, not `waited`.
  std::vector<Suspect> sharers;
};

// The settings of the rule. Seconds per second are the same as shares of time.
struct CpuRule {
  double throttled = 0.010;       // minimum throttled time for self_quota and shared_parent
  double held_up = 0.010;         // minimum H(1 ms)
  double over_quiet = 2.5;        // minimum ratio of H(1 ms) by others to its quiet level
  double latency_cpus = 1;        // a container that runs or waits for others less than this is judged by H(1 ms) …
  double throughput_run = 0.3;    // … all others, and containers with at least this usage, by their lost throughput
  double lost_throughput = 0.15;  // minimum lost part of the throughput without interference
  double estimated = 0.1;         // a finding is estimated if a larger part of all waits is displaced
};

// The result for one window. Kind::none: the container is not held up.
struct Finding {
  Kind kind = Kind::none;
  Statistic statistic;                    // without a finding: held_up_by_others
  double held_up_by_others = 0;           // the part of H(1 ms) that others cause
  std::vector<Suspect> suspects;          // direct and displaced waits (see README.md), the longest first
  double self = 0;                        // waits behind own threads, without the waits that others cause
  double throttled = 0, unexplained = 0;  // throttled: without the part that sharers cause
  Method method = Method::exact;
};

// Judges a window. `quiet`: H(1 ms) by others in this container's quiet windows; 0: unknown.
Finding judge(const CpuWindow& window, double quiet, const CpuRule& rule = {});

}  // namespace koord::analysis
