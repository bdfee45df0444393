// SPDX-License-Identifier: Apache-2.0
// Blame for waits for a CPU, on the real kernel, in situations with a known answer.
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "plugins/advisor-interference/cpu_blame.hpp"
#include "test/support/child_process.hpp"
#include "test/support/cpu_workloads.hpp"
#include "test/support/must.hpp"
#include "test/support/real_cgroup.hpp"

namespace {

using koord::interference::Blame;
using koord::interference::CpuBlame;
using koord::interference::CpuReading;
using koord::interference::CpuTimes;
using koord::interference::Occupant;
using koord::latency::CgroupTree;
using koord::test::ChildProcess;
using koord::test::eventually;
using koord::test::must;
using koord::test::RealCgroup;
using koord::test::set_weight;

constexpr std::uint64_t kSecond = 1'000'000'000;

CgroupTree real_tree() { return must(CgroupTree::find("cpu", "/sys/fs/cgroup", "/proc")); }

void run_on(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
}

int first_cpu() {
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);
  int first = 0;
  while (!CPU_ISSET(first, &cpus)) ++first;
  return first;
}

[[noreturn]] void spin() {
  while (true) asm volatile("");
}

// A parent cgroup that is preferred to everything else during this test.
struct Parent : RealCgroup {
  Parent() : RealCgroup("blame") { set_weight(*this, 10'000); }
};

// A cgroup with processes in it.
struct Workload {
  Workload(const RealCgroup& parent, const std::string& name)
      : cgroup(parent, name), id(must(real_tree().directory(cgroup.dir())).id) {}

  void start(const std::function<void()>& body) {
    processes.push_back(std::make_unique<ChildProcess>([this, body] {
      cgroup.add_process(::getpid());
      body();
    }));
  }
  void spin_on(int cpu) {
    start([cpu] {
      run_on(cpu);
      spin();
    });
  }
  // Return numbers of the first process' schedstat.
  std::uint64_t delay_ns() const { return schedstat(1); }
  std::uint64_t turns() const { return schedstat(2); }
  // Returns the kernel's own statistics.
  std::uint64_t throttled_ns() const {
    const std::string stat = must(koord::read_file(real_tree().path(cgroup.dir()) + "/cpu.stat"));
    for (std::string_view name : {"throttled_time ", "throttled_usec "})
      if (const auto at = stat.find(name); at != std::string::npos) {
        std::string_view rest = std::string_view(stat).substr(at + name.size());
        return must(koord::parse_uint(rest.substr(0, rest.find('\n')))) * (name == "throttled_usec " ? 1000 : 1);
      }
    return 0;
  }

  std::uint64_t schedstat(std::size_t field) const {
    const std::string path = "/proc/" + std::to_string(processes[0]->pid()) + "/schedstat";
    return must(koord::parse_uint(koord::trim(koord::split(must(koord::read_file(path)), ' ')[field])));
  }

  RealCgroup cgroup;
  std::uint64_t id;
  std::vector<std::unique_ptr<ChildProcess>> processes;
};

// Everything that was read since the start.
class Observed {
 public:
  Observed() : blame_(must(CpuBlame::open(real_tree()))) {}

  void read() {
    const CpuReading reading = must(blame_.read());
    for (const Blame& one : reading.blames) blames_[{one.victim, one.occupant, one.culprit}] += one.ns;
    for (const auto& cgroup : reading.times.cgroups) times_[cgroup.cgroup] = cgroup.total;
    CHECK(reading.unplaced_ns == 0);
  }
  // Waits until threads of the cgroup have waited this long.
  void until_waited(const Workload& victim, std::uint64_t ns) {
    REQUIRE(eventually([&] {
      read();
      return all(victim) >= ns;
    }));
  }
  std::uint64_t by(const Workload& victim, const Workload& culprit) const {
    return sum([&](const Key& key) { return key.victim == victim.id && key.culprit == culprit.id; });
  }
  std::uint64_t by(const Workload& victim, Occupant occupant) const {
    return sum([&](const Key& key) { return key.victim == victim.id && key.occupant == occupant; });
  }
  std::uint64_t all(const Workload& victim) const {
    return sum([&](const Key& key) { return key.victim == victim.id; });
  }
  double unexplained(const Workload& victim) const {
    return double(by(victim, Occupant::moved) + by(victim, Occupant::unknown)) / double(all(victim));
  }
  const CpuTimes& times(const Workload& workload) { return times_[workload.id]; }

 private:
  struct Key {
    std::uint64_t victim;
    Occupant occupant;
    std::uint64_t culprit;

    auto operator<=>(const Key&) const = default;
  };

  std::uint64_t sum(const std::function<bool(const Key&)>& is_meant) const {
    std::uint64_t ns = 0;
    for (const auto& one : blames_)
      if (is_meant(one.first)) ns += one.second;
    return ns;
  }

  CpuBlame blame_;
  std::map<Key, std::uint64_t> blames_;
  std::map<std::uint64_t, CpuTimes> times_;
};

}  // namespace

TEST_CASE("two containers that run three to one are blamed three to one") {
  const Parent parent;
  Workload victim(parent, "victim"), strong(parent, "strong"), weak(parent, "weak");
  set_weight(strong.cgroup, 300);
  Observed observed;
  const int cpu = first_cpu();
  for (Workload* each : {&victim, &strong, &weak}) each->spin_on(cpu);
  observed.until_waited(victim, 6 * kSecond);
  const double ratio = double(observed.by(victim, strong)) / double(observed.by(victim, weak));
  MESSAGE("blame " << ratio << " : 1");
  CHECK(ratio == doctest::Approx(3).epsilon(0.05));
  CHECK(observed.unexplained(victim) < 0.02);
}

TEST_CASE("four threads of one cgroup on one CPU wait for each other") {
  const Parent parent;
  Workload crowd(parent, "crowd");
  Observed observed;
  for (int i = 0; i < 4; ++i) crowd.spin_on(first_cpu());
  observed.until_waited(crowd, 8 * kSecond);
  MESSAGE("self " << 100.0 * double(observed.by(crowd, crowd)) / double(observed.all(crowd)) << " %");
  CHECK(double(observed.by(crowd, crowd)) >= 0.98 * double(observed.all(crowd)));
}

TEST_CASE("time that a cgroup's own quota takes is throttled time, and blamed on no neighbour") {
  const Parent parent;
  Workload limited(parent, "limited");
  limited.cgroup.limit_cpu(0.2);
  Observed observed;
  limited.spin_on(first_cpu());
  REQUIRE(eventually([&] {
    observed.read();
    return observed.times(limited).throttled > 2 * kSecond;
  }));
  limited.processes.clear();
  observed.read();
  const double kernel = double(limited.throttled_ns()), ours = double(observed.times(limited).throttled);
  MESSAGE("throttled " << ours / 1e6 << " ms, the kernel says " << kernel / 1e6 << " ms");
  // The process may have ended while throttled, which is at most one period.
  CHECK(ours <= 1.01 * kernel);
  CHECK(ours >= 0.99 * kernel - 100e6);
  CHECK(double(observed.all(limited)) < 0.05 * ours);
}

TEST_CASE("the shares of a quota and of a neighbour are separate") {
  const Parent parent;
  Workload limited(parent, "limited"), hog(parent, "hog");
  limited.cgroup.limit_cpu(0.2);
  Observed observed;
  const int cpu = first_cpu();
  limited.spin_on(cpu);
  hog.spin_on(cpu);
  observed.until_waited(limited, kSecond);
  const double waited = double(observed.by(limited, hog)), all = double(observed.all(limited));
  MESSAGE("hog " << 100 * waited / all << " % of " << all / 1e6 << " ms, throttled "
                 << double(observed.times(limited).throttled) / 1e6 << " ms");
  CHECK(waited >= 0.95 * all);
  CHECK(observed.times(limited).throttled > kSecond);
  // Both compete for a fifth of the CPU, the quota of one of them. Its wait is about as long as its run time, but much
  // shorter than its throttled time.
  CHECK(double(observed.times(limited).wait) < 2 * double(observed.times(limited).run));
}

TEST_CASE("two containers that alternate thousands of times in one wait are both blamed") {
  const Parent parent;
  Workload victim(parent, "victim"), ping(parent, "ping"), pong(parent, "pong");
  set_weight(victim.cgroup, 1);
  std::array<int, 2> there{}, back{};
  REQUIRE(::pipe(there.data()) == 0);
  REQUIRE(::pipe(back.data()) == 0);
  const auto pass = [](int from, int to) {
    char byte = 0;
    while (::read(from, &byte, 1) == 1 && ::write(to, &byte, 1) == 1) {
    }
  };
  Observed observed;
  const int cpu = first_cpu();
  ping.start([&] {
    run_on(cpu);
    pass(back[0], there[1]);
  });
  pong.start([&] {
    run_on(cpu);
    pass(there[0], back[1]);
  });
  victim.spin_on(cpu);
  REQUIRE(::write(there[1], "x", 1) == 1);
  observed.until_waited(victim, 3 * kSecond);
  for (int end : {there[0], there[1], back[0], back[1]}) ::close(end);
  const double known = double(observed.by(victim, ping) + observed.by(victim, pong));
  MESSAGE("ping and pong " << 100 * known / double(observed.all(victim)) << " %, unexplained "
                           << 100 * observed.unexplained(victim) << " %");
  CHECK(observed.unexplained(victim) <= 0.03);
  CHECK(known >= 0.9 * double(observed.all(victim)));
}

TEST_CASE("each of forty containers that take turns of 0.2 ms is blamed by those that wait for it") {
  const Parent parent;
  std::vector<std::unique_ptr<Workload>> crowd;
  Observed observed;
  const int cpu = first_cpu();
  for (int i = 0; i < 40; ++i) {
    crowd.push_back(std::make_unique<Workload>(parent, "turn" + std::to_string(i)));
    crowd.back()->start([cpu] {
      ::prctl(PR_SET_TIMERSLACK, 1);
      run_on(cpu);
      while (true) {
        koord::test::work(200 * koord::test::kMicrosecond);
        ::usleep(20);
      }
    });
  }
  observed.until_waited(*crowd.front(), 3 * kSecond);
  std::uint64_t all = 0, unknown = 0;
  for (const auto& each : crowd) {
    all += observed.all(*each);
    unknown += observed.by(*each, Occupant::unknown);
  }
  MESSAGE("unknown " << 100 * double(unknown) / double(all) << " %");
  CHECK(double(unknown) <= 0.03 * double(all));  // 10 % if an epoch has only four places
}

TEST_CASE("threads that are moved between CPUs leave little unexplained") {
  const Parent parent;
  Workload first(parent, "first"), second(parent, "second"), third(parent, "third");
  Observed observed;
  for (Workload* each : {&first, &second, &third})
    for (int i = 0; i < 2; ++i) each->start(spin);
  observed.until_waited(first, 5 * kSecond);
  MESSAGE("unexplained " << 100 * observed.unexplained(first) << " %");
  CHECK(observed.unexplained(first) <= 0.05);
}

TEST_CASE("a thread that starves is blamed on the one that runs, second by second, before its wait ends") {
  const Parent parent;
  Workload victim(parent, "victim"), hog(parent, "hog");
  set_weight(victim.cgroup, 1);
  set_weight(hog.cgroup, 10'000);
  Observed observed;
  const int cpu = first_cpu();
  hog.spin_on(cpu);
  victim.spin_on(cpu);
  observed.until_waited(victim, kSecond);
  const std::uint64_t turns = victim.turns();
  for (int window = 0; window < 3; ++window) {
    const std::uint64_t before = observed.by(victim, hog), excess = observed.times(victim).excess[2];
    const auto begin = std::chrono::steady_clock::now();
    // Waits are counted up to the clock of the run queue, which may be one tick old.
    observed.until_waited(victim, observed.all(victim) + kSecond / 2);
    const auto passed = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
    MESSAGE("blamed " << double(observed.by(victim, hog) - before) / 1e6 << " ms in " << double(passed) / 1e6 << " ms");
    CHECK(double(observed.by(victim, hog) - before) >= 0.8 * double(passed));
    CHECK(double(observed.by(victim, hog) - before) <= 1.2 * double(passed));
    CHECK(double(observed.times(victim).excess[2] - excess) >= 0.8 * double(passed));
  }
  WARN(victim.turns() == turns);  // all of that was one wait
  CHECK(observed.unexplained(victim) < 0.02);
  // At the end of the wait no time is counted twice, so all waits equal the kernel's values.
  hog.processes.clear();
  REQUIRE(eventually([&] { return victim.turns() > turns; }));
  observed.read();
  const double kernel = double(victim.delay_ns()), ours = double(observed.times(victim).wait);
  MESSAGE("waited " << ours / 1e6 << " ms, the kernel says " << kernel / 1e6 << " ms");
  CHECK(ours <= 1.02 * kernel + 20e6);
  CHECK(ours >= 0.95 * kernel - 20e6);
}

TEST_CASE("the sum of the waits equals the kernel's value for the threads") {
  const Parent parent;
  Workload victim(parent, "victim"), hog(parent, "hog");
  Observed observed;
  const int cpu = first_cpu();
  victim.spin_on(cpu);
  hog.spin_on(cpu);
  observed.until_waited(victim, 2 * kSecond);
  // The kernel's number contains waits that have ended; ours also contains the current one. The kernel's number is read
  // between two readings of our number.
  observed.read();
  const std::uint64_t least = observed.times(victim).wait;
  const std::uint64_t kernel = victim.delay_ns();
  observed.read();
  CHECK(least <= kernel + 100'000'000);
  CHECK(observed.times(victim).wait + 100'000'000 >= kernel);
  CHECK(observed.times(victim).long_wait <= observed.times(victim).wait);
  CHECK(observed.all(victim) <= observed.times(victim).long_wait);
  CHECK(double(observed.all(victim)) >= 0.99 * double(observed.times(victim).long_wait));
}

int main(int argc, char** argv) {
  if (auto why = RealCgroup::unavailable()) {
    std::printf("SKIPPED: no cgroups to measure: %s\n", why->c_str());
    return koord::test::kSkip;
  }
  if (auto blame = CpuBlame::open(real_tree()); !blame) {
    std::printf("SKIPPED: %s\n", blame.error().message().c_str());
    return koord::test::kSkip;
  }
  return doctest::Context(argc, argv).run();
}
