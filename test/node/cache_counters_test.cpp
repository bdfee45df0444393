// SPDX-License-Identifier: Apache-2.0
// The counters for verdicts about caches, on cgroups of the real kernel. Software events replace hardware events, so
// the path from the kernel to a window also runs on machines without a PMU: time replaces cycles and instructions, page
// faults replace misses.
#include <doctest/doctest.h>
#include <perfmon/pfmlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "core/base/cpu_set.hpp"
#include "core/base/file.hpp"
#include "plugins/advisor-interference/perf_counters.hpp"
#include "test/node/perf_worker.hpp"
#include "test/support/real_cgroup.hpp"

namespace {

using namespace koord::performance;
using koord::NodeRoots;
using koord::interference::CacheWindows;
using koord::interference::CounterTotals;
using koord::interference::KnownContainer;
using koord::interference::PerfCounters;

const EventSettings kSoftwareEvents = {.cycles = "PERF_COUNT_SW_TASK_CLOCK",
                                       .instructions = "PERF_COUNT_SW_CPU_CLOCK",
                                       .llc_misses = "PERF_COUNT_SW_PAGE_FAULTS"};
constexpr double kSeconds = 5;  // length of a window, as passed to the reader

std::unique_ptr<PerfCounters> software_counters(const PerfCounters::Limits& limits = {}) {
  return must(PerfCounters::open(NodeRoots(), limits, kSoftwareEvents));
}

std::size_t cpus() {
  return must(koord::CpuSet::parse(must(koord::read_file("/sys/devices/system/cpu/online")))).size();
}

std::size_t open_descriptors() { return must(koord::list_directory("/proc/self/fd")).size(); }

KnownContainer container(std::uint64_t handle, const PerfCgroup& cgroup) {
  return {handle, cgroup.dir(), cgroup.dir()};
}

bool has(const std::vector<CounterTotals>& totals, std::uint64_t handle) {
  return std::any_of(totals.begin(), totals.end(), [&](const CounterTotals& one) { return one.handle == handle; });
}

bool agree(double found, double expected) { return found > 0.95 * expected && found < 1.25 * expected; }

}  // namespace

TEST_CASE("a window has the CPU time and the faults that the container's process knows of itself") {
  PerfCgroup busy("cache-busy"), idle("cache-idle");
  Worker worker(busy), sleeper(idle);
  const std::vector<KnownContainer> known = {container(1, busy), container(2, idle)};
  const auto counters = software_counters();
  CacheWindows windows(counters->llc_misses());
  windows.next(known, must(counters->read(known, kSeconds)), kSeconds);
  windows.next(known, must(counters->read(known, kSeconds)), kSeconds);
  const double used = worker.work();
  const auto subjects = windows.next(known, must(counters->read(known, kSeconds)), kSeconds);
  const auto& window = subjects[0].window;
  REQUIRE(window.is_counted);
  CHECK(agree(window.usage * kSeconds, used));
  CHECK(agree(window.cycles * kSeconds / 1e9, used));
  CHECK(agree(window.cycles / window.instructions, 1));
  CHECK(window.llc_misses * kSeconds >= kTouchedPages);
  CHECK(subjects[1].window.is_counted);
  CHECK(subjects[1].window.usage < window.usage / 100);
}

TEST_CASE("descriptors stay open between windows, and are closed when their container has ended") {
  PerfCgroup one("cache-one"), two("cache-two");
  const std::size_t before = open_descriptors();
  const auto counters = software_counters();
  const std::vector<KnownContainer> both = {container(1, one), container(2, two)};
  CHECK(must(counters->read(both, kSeconds)).empty());
  CHECK(must(counters->read(both, kSeconds)).size() == 2);
  CHECK(counters->descriptors() == 2 * 3 * cpus());
  CHECK(open_descriptors() == before + counters->descriptors());
  must(counters->read({both[0]}, kSeconds));
  CHECK(counters->descriptors() == 3 * cpus());
}

TEST_CASE("with descriptors for one container, one that uses little CPU makes way for another, a busy one does not") {
  PerfCgroup busy("cache-turn-busy"), idle("cache-turn-idle");
  Worker worker(busy);
  const std::vector<KnownContainer> both = {container(1, idle), container(2, busy)};
  const auto counters = software_counters({.descriptors = 3 * cpus(), .turn_seconds = 1});
  must(counters->read(both, 0.1));
  CHECK(has(must(counters->read(both, 0.1)), 1));
  must(counters->read(both, 1));
  CHECK(has(must(counters->read(both, 0)), 2));
  worker.work();
  must(counters->read(both, 1));
  CHECK(has(must(counters->read(both, 0)), 2));
  must(counters->read(both, 1));
  CHECK(has(must(counters->read(both, 0)), 1));
}

TEST_CASE("without descriptors fewer containers are counted, and again all when there are some") {
  PerfCgroup one("cache-few-1"), two("cache-few-2");
  const auto counters = software_counters();
  const std::vector<KnownContainer> both = {container(1, one), container(2, two)};
  rlimit all{};
  ::getrlimit(RLIMIT_NOFILE, &all);
  rlimit few = all;
  few.rlim_cur = open_descriptors() + 3 * cpus() + 1;
  ::setrlimit(RLIMIT_NOFILE, &few);
  must(counters->read(both, kSeconds));
  const std::size_t starved = counters->descriptors();
  ::setrlimit(RLIMIT_NOFILE, &all);
  CHECK(starved == 3 * cpus());
  for (int window = 0; window < 10; ++window) must(counters->read(both, kSeconds));
  CHECK(counters->descriptors() == 2 * 3 * cpus());
}

TEST_CASE("a container without a cgroup is not counted, and harms no other") {
  PerfCgroup one("cache-there");
  const auto counters = software_counters();
  const std::vector<KnownContainer> known = {{7, "gone", "koord-test-no-such"}, {8, "none", ""}, container(1, one)};
  must(counters->read(known, kSeconds));
  const std::vector<CounterTotals> totals = must(counters->read(known, kSeconds));
  REQUIRE(totals.size() == 1);
  CHECK(totals[0].handle == 1);
}

TEST_CASE("with the events of the agent this machine counts, or is refused with the reason") {
  const auto counters = PerfCounters::open(NodeRoots(), {});
  if (counters) return;
  const std::string why = counters.error().message();
  std::printf("hardware events: %s\n", why.c_str());
  CHECK(why.find("'PERF_COUNT_HW_CPU_CYCLES' on CPU ") != std::string::npos);
}

int main(int argc, char** argv) {
  // Called here, so that a copy of this program for a different machine includes the library, which is loaded by name.
  std::printf("libpfm4 %d.%d\n", PFM_MAJ_VERSION(pfm_get_version()), PFM_MIN_VERSION(pfm_get_version()));
  const auto skip = [](const std::string& why) {
    std::printf("SKIPPED: %s\n", why.c_str());
    return koord::test::kSkip;
  };
  if (auto why = koord::test::RealCgroup::unavailable()) return skip("no cgroups to measure: " + *why);
  if (auto opened = PerfCounters::open(NodeRoots(), {}, kSoftwareEvents); !opened)
    return skip(opened.error().message());
  return doctest::Context(argc, argv).run();
}
