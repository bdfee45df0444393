// SPDX-License-Identifier: Apache-2.0
// Verdict: whether a container is held up, by what cause, and by which method this was found. Plain values. [any
// thread]
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"

namespace koord::analysis {

// The handle of a container in the state, never 0.
using Subject = std::uint64_t;

enum class Kind {
  none,
  interfered,         // others hold it up
  self_quota,         // its own CPU quota throttles it
  self_threads,       // its threads need more CPUs than it may use
  shared_parent,      // others use up the quota of an ancestor cgroup
  self_memory_limit,  // its own memory limit holds it up
};
std::string_view name_of(Kind kind);

enum class Method {
  exact,      // counted by the kernel
  estimated,  // counted, but a part was distributed by a formula
  suspected,  // not counted, only a heuristic
};
std::string_view name_of(Method method);

enum class SuspectKind {
  container,
  outside,  // cgroups outside of pods
  kernel,   // the kernel's own threads
};

// A subject that used the resource while the victim waited.
struct Suspect {
  SuspectKind kind = SuspectKind::container;
  Subject subject = 0;  // for SuspectKind::container
  double waited = 0;    // wait of the victim, in seconds per second
  double usage = 0;     // usage of the suspect in that time, in CPUs
  double quiet = 0;     // `waited` in quiet windows of the victim; 0 while that is unknown

  double over_quiet() const { return waited > quiet ? waited - quiet : 0; }
  bool operator==(const Suspect&) const = default;
};

// Returns the suspect of this kind and subject. Adds it without a wait if it is missing.
Suspect& suspect_in(std::vector<Suspect>& suspects, SuspectKind kind, Subject subject);
void sort_by_wait(std::vector<Suspect>& suspects);  // sorts by wait, the longest first

// The value that the verdict is based on.
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
  // In seconds per second: waits behind its own threads, time throttled by a quota because of its own use, waits
  // without a known cause.
  double self = 0, throttled = 0, unexplained = 0;
  Method method = Method::exact;
  Time from{}, to{};
  int windows_over = 0, windows_seen = 0;  // between `from` and `to`
};

}  // namespace koord::analysis
