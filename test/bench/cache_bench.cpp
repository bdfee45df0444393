// SPDX-License-Identifier: Apache-2.0
// The counters for verdicts about caches: opening and reading them for 250 containers, the additional cost of a switch
// between two containers, and the analysis of a window. It uses software events instead of hardware events, so access
// to PMU registers is not measured. Needs root.
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "core/base/file.hpp"
#include "plugins/advisor-interference/perf_counters.hpp"
#include "plugins/shared/counters/perf_hierarchy.hpp"
#include "test/bench/measure.hpp"

using namespace koord;
using namespace koord::bench;
using interference::KnownContainer;
using interference::PerfCounters;

namespace {

constexpr int kContainers = 250, kRounds = 21, kSwitches = 100'000;
const performance::EventSettings kSoftwareEvents = {.cycles = "PERF_COUNT_SW_TASK_CLOCK",
                                                    .instructions = "PERF_COUNT_SW_CPU_CLOCK",
                                                    .llc_misses = "PERF_COUNT_SW_PAGE_FAULTS"};

class Cgroups {
 public:
  explicit Cgroups(std::string tree) : tree_(std::move(tree)) {
    for (int i = 0; i < kContainers; ++i) {
      const std::string dir = "koord-test-cache-bench-" + std::to_string(i);
      ::mkdir((tree_ + "/" + dir).c_str(), 0755);
      known.push_back({static_cast<std::uint64_t>(i + 1), dir, dir});
    }
  }
  Cgroups(const Cgroups&) = delete;
  Cgroups& operator=(const Cgroups&) = delete;
  ~Cgroups() {
    for (const KnownContainer& one : known) ::rmdir((tree_ + "/" + one.cgroup_dir).c_str());
  }

  bool enter(std::size_t i) const {
    return static_cast<bool>(write_value(tree_ + "/" + known[i].cgroup_dir + "/cgroup.procs", "0"));
  }

  std::vector<KnownContainer> known;

 private:
  std::string tree_;
};

double slab_kib() {
  const std::string text = read_file("/proc/meminfo").value_or("");
  const std::size_t at = text.find("\nSlab:");
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + 6, nullptr);
}

// One of two processes on a CPU that wake each other.
[[noreturn]] void play(const Cgroups& cgroups, std::size_t i, int from, int to) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  ::sched_setaffinity(0, sizeof one, &one);
  char byte = 0;
  if (!cgroups.enter(i)) ::_exit(1);
  for (int n = 0; n < kSwitches / 2; ++n)
    if ((i == 0 && ::write(to, &byte, 1) != 1) || ::read(from, &byte, 1) != 1 || (i == 1 && ::write(to, &byte, 1) != 1))
      ::_exit(1);
  ::_exit(0);
}

double cpu_seconds_of_children() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Returns the CPU time of one switch between processes of two cgroups, in ns.
double switch_ns(const Cgroups& cgroups) {
  std::array<int, 2> there{}, back{};
  if (::pipe(there.data()) != 0 || ::pipe(back.data()) != 0) return 0;
  const double begin = cpu_seconds_of_children();
  const pid_t first = ::fork();
  if (first == 0) play(cgroups, 0, back[0], there[1]);
  const pid_t second = ::fork();
  if (second == 0) play(cgroups, 1, there[0], back[1]);
  ::waitpid(first, nullptr, 0);
  ::waitpid(second, nullptr, 0);
  const double took = cpu_seconds_of_children() - begin;
  for (const int fd : {there[0], there[1], back[0], back[1]}) ::close(fd);
  return took * 1e9 / kSwitches;
}

struct SwitchTimes {
  double without = 1e9, with = 1e9;  // the least of all rounds: other work on the machine only adds to it
  double ratio = 0;                  // median over the rounds
};

// Counts the containers in every second measurement, so other work on the machine affects both.
SwitchTimes switch_times(const Cgroups& cgroups, PerfCounters& counters) {
  SwitchTimes times;
  std::vector<double> ratios;
  for (int round = 0; round < 9; ++round) {
    (void)counters.read({}, 5);
    const double without = switch_ns(cgroups);
    (void)counters.read(cgroups.known, 5);
    const double with = switch_ns(cgroups);
    times.without = std::min(times.without, without);
    times.with = std::min(times.with, with);
    ratios.push_back(with / without);
  }
  times.ratio = median(std::move(ratios));
  return times;
}

// Returns the seconds for one window of 250 containers, the first `alarms` of them with an alarm.
double analysis_seconds(int alarms) {
  analysis::CacheAnalysis analysis;
  Time at{};
  double last = 0;
  for (int n = 0; n < 750; ++n) {
    std::vector<analysis::CacheSubject> subjects;
    for (int i = 0; i < kContainers; ++i) {
      const double use = 1 + 0.1 * std::sin(n * (i + 1)), cpi = n > 730 && i < alarms ? 2 : 1 + 0.01 * std::sin(n + i);
      subjects.push_back({"w" + std::to_string(i),
                          {.subject = static_cast<std::uint64_t>(i + 1),
                           .is_counted = true,
                           .usage = use,
                           .cycles = use * cpi * 1e9,
                           .instructions = use * 1e9,
                           .llc_misses = use * 1e6}});
    }
    last = cpu_seconds_of([&] { analysis.add(at += std::chrono::seconds(5), subjects); });
  }
  return last;
}

}  // namespace

int main() {
  const auto tree = performance::find_perf_hierarchy("/sys/fs/cgroup");
  auto counters = PerfCounters::open(NodeRoots(), {}, kSoftwareEvents);
  if (!tree || !counters || ::geteuid() != 0) {
    std::printf("SKIPPED: %s\n", tree && !counters ? counters.error().message().c_str() : "no root, or no perf_event");
    return 77;
  }
  const Cgroups cgroups(*tree);
  const double slab = slab_kib();
  const double opening = cpu_seconds_of([&] { (void)(*counters)->read(cgroups.known, 5); });
  const auto n = static_cast<double>((*counters)->descriptors());
  std::vector<double> reading, files;
  for (int i = 0; i < kRounds; ++i) {
    reading.push_back(cpu_seconds_of([&] { (void)(*counters)->read(cgroups.known, 0); }));
    files.push_back(cpu_seconds_of([&] {
      for (const KnownContainer& one : cgroups.known) (void)read_file(*tree + "/" + one.cgroup_dir + "/cgroup.procs");
    }));
  }
  std::printf("%d containers, %.0f descriptors: opening %.1f us each, %.1f KiB of slab each\n", kContainers, n,
              opening / n * 1e6, (slab_kib() - slab) / n);
  print_ratio("reading all counters", median(reading) * 1e3, "reading a file of each", median(files) * 1e3, "ms", 3);
  const SwitchTimes switches = switch_times(cgroups, **counters);
  print_ratio("a switch between two containers, least", switches.with, "without counters", switches.without, "ns", 1.3);
  std::printf("the same, median of the ratios of nine pairs: %.2f\n", switches.ratio);
  std::printf("analysis of a window: %.3f ms quiet, %.3f ms with 10 alarms\n", analysis_seconds(0) * 1e3,
              analysis_seconds(10) * 1e3);
  return 0;
}
