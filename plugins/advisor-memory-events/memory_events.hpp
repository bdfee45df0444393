// SPDX-License-Identifier: Apache-2.0
// The number of processes of a cgroup killed for lack of memory, from two sources that must not be added up: the
// kernel's counter, which ends with the cgroup, and the kernel's log, which outlives it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plugins/advisor-memory-events/oom_log.hpp"

namespace koord::memory_events {

// One cgroup's count. While the counter can be read it alone counts; when it cannot be read any more, kills that were
// logged since the last time it could are added. A kill is logged before it is counted, and the log is read after the
// counter, so none is in both.
class KillCount {
 public:
  // `logged`: kills of this cgroup in the log until now. `counted` nothing: there is no counter (any more).
  void update(std::optional<std::int64_t> counted, std::int64_t logged);

  // Nothing until something was counted or logged.
  std::optional<std::int64_t> total() const { return total_; }

 private:
  std::int64_t counted_ = 0, logged_when_counted_ = 0;
  std::optional<std::int64_t> total_;
};

// Kills in a pod or container, which may have cgroups below its own. On v2 its counter has theirs; on v1 it has not,
// nor those of containers that have ended: there they are summed up.
class Kills {
 public:
  void log_own() { ++own_; }                    // of this very cgroup
  void log_below() { ++below_; }                // deeper, in no container that is measured
  void log_in_container() { ++in_container_; }  // of a pod: in a container that is measured
  void add_of_containers(std::int64_t kills) { of_containers_ += kills; }

  // Once a tick, when both sources were read. `subtree`: the counter is v2's.
  void update(std::optional<std::int64_t> counted, bool subtree);

  std::optional<std::int64_t> total() const;

  // Kills that neither the log nor a container's count explains. Below 0 while the log is ahead of the counter.
  std::int64_t unexplained() const { return total().value_or(0) - own_ - below_ - of_containers_; }

 private:
  std::int64_t own_ = 0, below_ = 0, in_container_ = 0, of_containers_ = 0;
  std::optional<bool> subtree_;
  KillCount count_;
};

// Counts the new ones of the unexplained kills, so that each is reported once.
class UnreportedKills {
 public:
  // Existing kills happened before this instance started.
  void skip(std::int64_t unexplained) { reported_ = unexplained; }
  // `settle`: only what was there the time before, too.
  std::int64_t take(std::int64_t unexplained, bool settle);

 private:
  std::int64_t reported_ = 0, previous_ = 0;
};

// "killed 'python3', pid 123 in '/kubepods/pod1/c1'; the limit of '/kubepods/pod1' was hit: 32.0 MiB of 32.0 MiB in
// use"
std::string describe(const OomKill& kill);
// "2 processes killed, which ones is not known; 30.1 MiB of 32.0 MiB in use now"; what is not known is left out.
std::string describe_unexplained(std::int64_t kills, std::optional<std::int64_t> usage_bytes,
                                 std::optional<std::int64_t> limit_bytes);

}  // namespace koord::memory_events
