// SPDX-License-Identifier: Apache-2.0
// Verdict: whether something holds a container up, what it is, and how that is known. Plain values. [any thread]
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"

namespace koord::analysis {

// A container: its handle in the state, never 0.
using Subject = std::uint64_t;

enum class Kind {
  none,
  interfered,         // others hold it up
  self_quota,         // its own CPU quota
  self_threads,       // it wants more CPUs than it may use
  shared_parent,      // the quota of a cgroup above it, which others below that use up
  self_memory_limit,  // its own memory limit
};
std::string_view name_of(Kind kind);

enum class Method {
  exact,      // counted by the kernel
  estimated,  // counted, but a part was distributed by a rule
  suspected,  // nothing was counted: a rule of thumb
};
std::string_view name_of(Method method);

enum class SuspectKind {
  container,
  outside,  // cgroups of the node that belong to no pod
  kernel,   // the kernel's own threads
};

// One that occupied the resource while the victim waited.
struct Suspect {
  SuspectKind kind = SuspectKind::container;
  Subject subject = 0;  // of SuspectKind::container
  double waited = 0;    // by the victim, in seconds per second
  double usage = 0;     // of the suspect in that time, in CPUs
  double quiet = 0;     // `waited` in quiet windows of the victim; 0 while that is unknown

  double over_quiet() const { return waited > quiet ? waited - quiet : 0; }
  bool operator==(const Suspect&) const = default;
};

// Returns the suspect of this kind and subject; one that is not in the list yet is added, without a wait.
Suspect& suspect_in(std::vector<Suspect>& suspects, SuspectKind kind, Subject subject);
void sort_by_wait(std::vector<Suspect>& suspects);  // the longest first

// The figure that the verdict rests on.
struct Statistic {
  std::string_view name;
  double value = 0, baseline = 0, threshold = 0;

  bool operator==(const Statistic&) const = default;
};

struct Verdict {
  Subject victim = 0;
  Kind kind = Kind::none;
  Statistic statistic;
  std::vector<Suspect> suspects;  // the longest wait first
  // In seconds per second: waits behind its own threads, time throttled by a quota through its own use, waits without a
  // known cause.
  double self = 0, throttled = 0, unexplained = 0;
  Method method = Method::exact;
  Time from{}, to{};
  int windows_over = 0, windows_seen = 0;  // in that time
};

}  // namespace koord::analysis
