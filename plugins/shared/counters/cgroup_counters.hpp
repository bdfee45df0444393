// SPDX-License-Identifier: Apache-2.0
// CgroupCounters: one group of perf events on each given CPU, which counts the threads of a cgroup and of its
// descendants. Owns the descriptors, one for each event on each CPU. Either all groups open or the call fails, because
// a partial sum is worse than no sum. [any thread]
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
  // Opens counters for a cgroup. `cgroup`: descriptor of its directory in the hierarchy of perf_event. The groups count
  // from now on. After a failure no descriptor stays open; the error is the error of perf_event_open(2) with the names
  // of event and CPU.
  static Result<CgroupCounters> open(int cgroup, std::span<const EventCode> events, std::span<const unsigned> cpus);

  std::size_t descriptors() const { return fds_.size(); }

  // Returns the reading of each CPU, or the error of the first CPU that cannot be read.
  Result<std::vector<GroupReading>> read() const;

 private:
  explicit CgroupCounters(std::size_t events) : events_(events) {}

  Result<void> open_group(int cgroup, std::span<const EventCode> events, unsigned cpu);

  std::size_t events_;
  std::vector<UniqueFd> fds_;       // the leader of each CPU, followed by the other events of the CPU
  std::vector<std::uint64_t> ids_;  // the kernel's event ids, in the same order
};

}  // namespace koord::performance
