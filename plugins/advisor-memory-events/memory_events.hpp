// SPDX-License-Identifier: Apache-2.0
// Counts processes of a cgroup killed for lack of memory. Two sources must not be added up: the kernel's counter, which
// ends with the cgroup, and the kernel's log, which outlives it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plugins/advisor-memory-events/oom_log.hpp"

namespace koord::memory_events {

// The count of one cgroup. While the counter is readable, only the counter is used. When it is not readable any more,
// kills logged since its last read are added. The kernel logs a kill before it counts it, and the log is read after the
// counter, so no kill is counted twice.
class KillCount {
 public:
  // `logged`: kills of this cgroup in the log so far. `counted`: nullopt if there is no counter (any more).
  void update(std::optional<std::int64_t> counted, std::int64_t logged);

  // Returns nullopt until the counter was read or a kill was logged.
  std::optional<std::int64_t> total() const { return total_; }

 private:
  std::int64_t counted_ = 0, logged_when_counted_ = 0;
  std::optional<std::int64_t> total_;
};

// Kills in a pod or container, which may have cgroups below. On v2 the counter includes these cgroups. On v1 it
// includes neither them nor ended containers, so their kills are added here.
class Kills {
 public:
  void log_own() { ++own_; }                    // a kill in the cgroup itself
  void log_below() { ++below_; }                // a kill below the cgroup, outside of measured containers
  void log_in_container() { ++in_container_; }  // only for a pod: a kill in a measured container
  void add_of_containers(std::int64_t kills) { of_containers_ += kills; }

  // Call it once a tick, after both sources were read. `subtree`: the counter includes the descendants (v2).
  void update(std::optional<std::int64_t> counted, bool subtree);

  std::optional<std::int64_t> total() const;

  // Returns kills that neither the log nor a container's count explains. Negative while the log is ahead of the
  // counter.
  std::int64_t unexplained() const { return total().value_or(0) - own_ - below_ - of_containers_; }

 private:
  std::int64_t own_ = 0, below_ = 0, in_container_ = 0, of_containers_ = 0;
  std::optional<bool> subtree_;
  KillCount count_;
};

// Returns new unexplained kills, so each is reported once.
class UnreportedKills {
 public:
  // Ignores existing kills, which happened before this instance started.
  void skip(std::int64_t unexplained) { reported_ = unexplained; }
  // `settle`: only returns kills that were already unexplained in the previous call.
  std::int64_t take(std::int64_t unexplained, bool settle);

 private:
  std::int64_t reported_ = 0, previous_ = 0;
};

// Returns a text like "killed 'python3', pid 123 in '/kubepods/pod1/c1'; the limit of '/kubepods/pod1' was hit: 32.0
// MiB of 32.0 MiB in use".
std::string describe(const OomKill& kill);
// Returns a text like "2 processes killed, which ones is not known; 30.1 MiB of 32.0 MiB in use now". Unknown values
// are left out.
std::string describe_unexplained(std::int64_t kills, std::optional<std::int64_t> usage_bytes,
                                 std::optional<std::int64_t> limit_bytes);

}  // namespace koord::memory_events
