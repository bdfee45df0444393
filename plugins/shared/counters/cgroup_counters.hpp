// SPDX-License-Identifier: Apache-2.0
// CgroupCounters: a group of events on each of some CPUs that counts the threads of one cgroup and of all below it.
// Owns the descriptors: one for each event on each CPU. All groups or nothing: a part of the sum is worse than no sum.
// [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "plugins/shared/counters/estimate.hpp"
#include "plugins/shared/counters/event_names.hpp"

namespace koord::performance {

class CgroupCounters {
 public:
  // Opens counters for the cgroup with the directory `cgroup` (a descriptor) in the hierarchy of perf_event. The groups
  // count from now on. An error is that of perf_event_open(2) with the names of event and CPU; nothing stays open then.
  static Result<CgroupCounters> open(int cgroup, std::span<const EventCode> events, std::span<const unsigned> cpus);

  std::size_t descriptors() const { return fds_.size(); }

  // Every CPU's reading, or the error of the first that cannot be read.
  Result<std::vector<GroupReading>> read() const;

 private:
  explicit CgroupCounters(std::size_t events) : events_(events) {}

  Result<void> open_group(int cgroup, std::span<const EventCode> events, unsigned cpu);

  std::size_t events_;
  std::vector<UniqueFd> fds_;       // a CPU's leader, then its other events
  std::vector<std::uint64_t> ids_;  // likewise
};

}  // namespace koord::performance
