// SPDX-License-Identifier: Apache-2.0
// The installed advisor-interference on this machine's kernel: services that wait for their own threads. Garbage
// collection and maintenance must not count as interference by others. The limits are far above the effect of other
// work on the machine, and far below the effect of these threads.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/node/real_advisor.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/cpu_workloads.hpp"

using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr long kMillisecond = 1000 * kMicrosecond;
constexpr int kWindows = 24;
constexpr unsigned kOthers = 4;  // threads in addition to the serving thread
constexpr const char* kLimits = R"({"rule": {"heldUpMsPerSecond": 100, "lostThroughputPercent": 40}})";

// Uses this much of each period.
[[noreturn]] void work_each(long period, long used) {
  timespec next{};
  clock_gettime(CLOCK_MONOTONIC, &next);
  while (true) {
    work(used);
    next = later_by(next, period);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
  }
}

// Runs a thread that serves each 2 ms, and other threads at the same time.
void serve_beside(unsigned threads, long period, long used) {
  std::vector<std::thread> others;
  for (unsigned i = 0; i < threads; ++i) others.emplace_back([=] { work_each(period, used); });
  work_each(2 * kMillisecond, kMillisecond / 2);
}

// All collectors run at the same time, several times per second.
void collect_garbage() { serve_beside(kOthers, 250 * kMillisecond, 30 * kMillisecond); }

// The threads always have something to compact.
void compact() { serve_beside(kOthers, 10 * kMillisecond, 10 * kMillisecond); }

// Allocates all the time in a small heap, which the largest possible number of collectors clean up.
constexpr const char* kGarbage = R"(public class Garbage {
  static volatile Object sink;
  public static void main(String[] arguments) throws Exception {
    java.util.ArrayDeque<byte[]> kept = new java.util.ArrayDeque<>();
    while (true) {
      for (int i = 0; i < 200; ++i) {
        kept.add(new byte[8192]);
        if (kept.size() > 3000) kept.poll();
        sink = new byte[65536];
      }
      Thread.sleep(1);
    }
  }
})";

template <class T>
T must(koord::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

struct OwnThreads {
  // The container may use one CPU, so this test can use a different CPU.
  OwnThreads() : cgroup("own-threads") {
    set_weight(cgroup, 10'000);  // preferred to everything else during this test
    const std::string cpus = cgroup.path(koord::cgroup::Controller::cpuset) + "/cpuset.cpus";
    const std::string all(koord::trim(must(koord::read_file(cpus))));
    must(koord::write_value(cpus, all.empty() ? "0" : all.substr(0, all.find_first_of(",-"))));
    advisor.emplace(std::initializer_list<const RealCgroup*>{&cgroup}, kLimits);
  }

  double waited(const char* cause) const {
    return advisor->value("container_held_up_seconds_total", cgroup, {{"resource", "cpu"}, {"cause", cause}})
        .value_or(0);
  }
  double by_others() const { return waited("others") + waited("outside") + waited("kernel"); }

  // Checks that the threads delay each other, and that no window has a verdict about others.
  void check_own_fault() {
    int windows = 0, blaming = 0;
    REQUIRE(collect_until(
        *advisor,
        [&] {
          if (advisor->value("container_interference", cgroup, {{"resource", "cpu"}, {"kind", "interfered"}}) == 1.0)
            ++blaming;
          return ++windows >= kWindows;
        },
        3min));
    MESSAGE("waits behind own threads " << waited("self") << " s, behind others " << by_others() << " s, unexplained "
                                        << waited("unexplained") << " s");
    for (const auto& event : advisor->host().events()) MESSAGE(event.why);
    CHECK(waited("self") > 1);
    CHECK(waited("self") > by_others());
    CHECK(blaming == 0);
  }

  RealCgroup cgroup;
  std::optional<RealAdvisor> advisor;
};

}  // namespace

std::optional<std::string> why_not() {
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) return "the kernel has no types";
  const RealCgroup probe("own-threads-probe");
  const std::string cpus = probe.path(koord::cgroup::Controller::cpuset) + "/cpuset.cpus";
  if (::access(cpus.c_str(), W_OK) != 0) return "no cpuset: cannot write '" + cpus + "'";
  return std::nullopt;
}

TEST_CASE_FIXTURE(OwnThreads, "a service that its own garbage collectors hold up blames no other container") {
  const auto service = start_in(cgroup, collect_garbage);
  check_own_fault();
}

TEST_CASE_FIXTURE(OwnThreads, "a service that its own maintenance threads hold up blames no other container") {
  const auto service = start_in(cgroup, compact);
  check_own_fault();
}

TEST_CASE_FIXTURE(OwnThreads, "a Java program that its garbage collectors hold up blames no other container") {
  if (::access("/usr/bin/javac", X_OK) != 0) {
    std::printf("SKIPPED: no /usr/bin/javac: a Java program was not measured\n");
    return;
  }
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/Garbage.java") << kGarbage;
  const Finished compiled = run_to_end({"/usr/bin/javac", "-d", folder.path(), folder.path() + "/Garbage.java"}, 3min);
  REQUIRE_MESSAGE(compiled.exit_status == 0, compiled.output);
  const ChildProcess java([&] {
    cgroup.add_process(::getpid());
    ::execl("/usr/bin/java", "java", "-Xmx64m", "-XX:+UseParallelGC", "-XX:ParallelGCThreads=4", "-cp",
            folder.path().c_str(), "Garbage", nullptr);
    ::_exit(1);
  });
  check_own_fault();
}
