// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/counters/cgroup_counters.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace koord::performance {
namespace {

constexpr unsigned long kFlags = PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC;

// Only the leader begins disabled. The other events of the group count when the leader is enabled.
perf_event_attr attributes(const EventCode& event, bool leads) {
  perf_event_attr attr = {};
  attr.size = sizeof attr;
  attr.type = event.type;
  attr.config = event.config;
  attr.config1 = event.config1;
  attr.config2 = event.config2;
  attr.exclude_user = event.exclude_user;
  attr.exclude_kernel = event.exclude_kernel;
  attr.exclude_hv = event.exclude_hypervisor;
  attr.exclude_guest = event.exclude_guest;
  attr.exclude_host = event.exclude_host;
  attr.disabled = leads;
  attr.read_format =
      PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return attr;
}

UniqueFd open_event(perf_event_attr attr, int cgroup, unsigned cpu, int leader) {
  return UniqueFd(
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, cgroup, static_cast<int>(cpu), leader, kFlags)));
}

}  // namespace

Result<CgroupCounters> CgroupCounters::open(int cgroup, std::span<const EventCode> events,
                                            std::span<const unsigned> cpus) {
  CgroupCounters counters(events.size());
  counters.fds_.reserve(cpus.size() * events.size());
  counters.ids_.reserve(cpus.size() * events.size());
  for (const unsigned cpu : cpus) TRY(counters.open_group(cgroup, events, cpu));
  for (std::size_t leader = 0; leader < counters.fds_.size(); leader += events.size())
    if (::ioctl(counters.fds_[leader].get(), PERF_EVENT_IOC_ENABLE, 0) != 0)
      return system_error(errno, "cannot start a group of counters");
  return counters;
}

Result<void> CgroupCounters::open_group(int cgroup, std::span<const EventCode> events, unsigned cpu) {
  int leader = -1;
  for (const EventCode& event : events) {
    UniqueFd fd = open_event(attributes(event, leader < 0), cgroup, cpu, leader);
    std::uint64_t id = 0;
    if (!fd || ::ioctl(fd.get(), PERF_EVENT_IOC_ID, &id) != 0)
      return system_error(errno, "cannot count '" + event.name + "' on CPU " + std::to_string(cpu));
    if (leader < 0) leader = fd.get();
    fds_.push_back(std::move(fd));
    ids_.push_back(id);
  }
  return {};
}

Result<std::vector<GroupReading>> CgroupCounters::read() const {
  std::vector<GroupReading> readings;
  std::vector<std::uint64_t> words(3 + 2 * events_);
  for (std::size_t leader = 0; leader < fds_.size(); leader += events_) {
    const ssize_t n = ::read(fds_[leader].get(), words.data(), words.size() * sizeof words[0]);
    if (n < 0) return system_error(errno, "cannot read a group of counters");
    const std::span answer(words.data(), static_cast<std::size_t>(n) / sizeof words[0]);
    auto reading = parse_group(answer, std::span(ids_).subspan(leader, events_));
    if (!reading) return invalid("a group of counters gave " + std::to_string(n) + " bytes that are not its events");
    readings.push_back(std::move(*reading));
  }
  return readings;
}

}  // namespace koord::performance
