// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/base/file.hpp"
#include "plugins/advisor-interference/cpu_windows.hpp"
#include "plugins/advisor-interference/quota_sources.hpp"
#include "plugins/advisor-interference/usable_cpus.hpp"
#include "plugins/advisor-interference/verdict_text.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::interference;
using analysis::CpuSubject;
using analysis::Suspect;
using analysis::SuspectKind;
using test::FakeNode;

namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kCart = 1, kEtl = 2;
constexpr std::uint64_t kCartCgroup = 101, kCartChild = 102, kEtlCgroup = 201, kSystemCgroup = 301;
const ContainerOfCgroup kContainers = {{kCartCgroup, kCart}, {kCartChild, kCart}, {kEtlCgroup, kEtl}};

Blame by_cgroup(std::uint64_t victim, std::uint64_t culprit, std::uint64_t ns) {
  return {victim, Occupant::cgroup, culprit, ns};
}

std::vector<CpuSubject> subjects(const std::vector<Blame>& blames, double seconds = 1) {
  CpuTimes cart;
  cart.run = 250 * kMs;
  cart.wait = 60 * kMs;
  cart.throttled = 7 * kMs;
  cart.excess = {50 * kMs, 45 * kMs, 42 * kMs, 30 * kMs, 0, 0};
  CpuTimes etl;
  etl.run = 1700 * kMs;
  return cpu_subjects({{kCart, "shop/cart/app", cart}, {kEtl, "batch/etl/main", etl}}, blames, kContainers, seconds);
}

analysis::Verdict verdict() {
  analysis::Verdict verdict{.victim = kCart, .kind = analysis::Kind::interfered};
  verdict.statistic = {"held_up_by_others", 0.042, 0.003, 0.01};
  verdict.suspects = {{SuspectKind::container, kEtl, 0.0381, 1.7},
                      {SuspectKind::outside, 0, 0.0122, 0, 0.0112},
                      {SuspectKind::kernel, 0, 0.0064, 0}};
  verdict.self = 0.003;
  verdict.unexplained = 0.0013;
  verdict.windows_over = 28;
  verdict.windows_seen = 30;
  return verdict;
}

std::string name_of_container(analysis::Subject subject) { return subject == kEtl ? "batch/etl-5/main" : ""; }

}  // namespace

TEST_CASE("the values of a container are per second of the window") {
  const analysis::CpuWindow window = subjects({}, 2)[0].window;
  CHECK(window.subject == kCart);
  CHECK(window.run == doctest::Approx(0.125));
  CHECK(window.wait == doctest::Approx(0.030));
  CHECK(window.throttled == doctest::Approx(0.0035));
  CHECK(window.held_up == doctest::Approx(0.021));
}

TEST_CASE("requests that arrive during a wait or in late turns are held up") {
  const auto held_up = [](std::uint64_t run, std::uint64_t waits, CpuTimes times) {
    times.run = run;
    times.waits = waits;
    return cpu_subjects({{kCart, "shop/cart/app", times}}, {}, kContainers, 1)[0].window.held_up;
  };
  CpuTimes times;
  times.excess = {40 * kMs, 30 * kMs, 20 * kMs, 12 * kMs, 4 * kMs, 0};
  CHECK(held_up(100 * kMs, 200, times) == doctest::Approx(0.02 + 8.0 / 200));  // over 1 ms: 20 - 12
  CHECK(held_up(300 * kMs, 100, times) ==
        doctest::Approx(0.02 + 8.0 / 2 / 100));                                   // over 2 ms, as 3 ms / 2 is over 1 ms
  CHECK(held_up(300 * kMs, 50, times) == doctest::Approx(0.02 + 4.0 / 4 / 100));  // over 4 ms; at least 100 turns
  CHECK(held_up(1000 * kMs, 20, times) == doctest::Approx(0.02));                 // a turn runs for 50 ms
  CHECK(held_up(0, 0, times) == doctest::Approx(0.02));
}

TEST_CASE(
    "waits are charged to containers, the kernel and processes outside of pods; a container's cgroups are summed") {
  const analysis::CpuWindow window = subjects({by_cgroup(kCartCgroup, kEtlCgroup, 30 * kMs),
                                               by_cgroup(kCartChild, kEtlCgroup, 8 * kMs),
                                               by_cgroup(kCartChild, kCartCgroup, 2 * kMs),
                                               by_cgroup(kCartCgroup, kCartCgroup, 1 * kMs),
                                               by_cgroup(kCartCgroup, kSystemCgroup, 12 * kMs),
                                               {kCartCgroup, Occupant::kernel, 0, 6 * kMs},
                                               {kCartCgroup, Occupant::moved, 0, 1 * kMs},
                                               {kCartCgroup, Occupant::idle, 0, 1 * kMs},
                                               {kCartCgroup, Occupant::unknown, 0, 1 * kMs},
                                               by_cgroup(kSystemCgroup, kEtlCgroup, 500 * kMs)})[0]
                                         .window;
  REQUIRE(window.others.size() == 3);
  CHECK(window.others[0] == Suspect{SuspectKind::container, kEtl, 0.038, 1.7});
  CHECK(window.others[1] == Suspect{SuspectKind::outside, 0, 0.012, 0});
  CHECK(window.others[2] == Suspect{SuspectKind::kernel, 0, 0.006, 0});
  CHECK(window.self == doctest::Approx(0.003));
  CHECK(window.unexplained == doctest::Approx(0.003));
}

TEST_CASE("a container that contains another one has only the times of its own threads") {
  constexpr std::uint64_t kPod = 3, kPodCgroup = 100;
  const auto total = [](std::uint64_t cgroup, std::uint64_t run) {
    latency::CgroupTotal<CpuTimes> one{cgroup, {}};
    one.total.run = run;
    return one;
  };
  latency::Windows<CpuTimes> windows;
  latency::Reading<CpuTimes> reading;
  reading.cgroups = {total(kPodCgroup, 1), total(kCartCgroup, 20), total(kCartChild, 300), total(kSystemCgroup, 4000)};
  windows.advance(reading);
  ContainerOfCgroup container_of = kContainers;
  container_of[kPodCgroup] = kPod;
  const auto times = times_by_container(windows, container_of);
  CHECK(times.at(kPod).run == 1);
  CHECK(times.at(kCart).run == 320);
  CHECK(times.at(kEtl).run == 0);
  CHECK(times.size() == 3);
}

TEST_CASE("the window has the share of a quota above, and the containers that share it") {
  CpuTimes cart, etl;
  cart.throttled = 400 * kMs;
  etl.run = 300 * kMs;
  ContainerTimes victim{kCart, "shop/cart/app", cart};
  victim.throttled_above = 0.75;
  victim.sharers = {kEtl, 99};
  const analysis::CpuWindow window = cpu_subjects({victim, {kEtl, "shop/cart/etl", etl}}, {}, kContainers, 1)[0].window;
  CHECK(window.throttled_above == doctest::Approx(0.3));
  REQUIRE(window.sharers.size() == 1);
  CHECK(window.sharers[0] == Suspect{SuspectKind::container, kEtl, 0, 0.3});
}

TEST_CASE("only a container that waits behind its own threads needs its CPUs") {
  const std::vector<Blame> blames = {by_cgroup(kEtlCgroup, kCartCgroup, kMs),
                                     {kEtlCgroup, Occupant::idle, 0, kMs},
                                     by_cgroup(kSystemCgroup, kSystemCgroup, kMs)};
  CHECK(waiting_for_themselves(blames, kContainers).empty());
  CHECK(waiting_for_themselves({by_cgroup(kCartChild, kCartCgroup, kMs)}, kContainers) == std::unordered_set{kCart});
}

TEST_CASE("a verdict names the statistic, the suspects and the method") {
  CHECK(describe(verdict(), name_of_container) ==
        "a request finds it held up for more than 1 ms during 4.2 % of the time (quiet 0.3 %, limit 1.0 %); waited for "
        "batch/etl-5/main 38 ms/s (62 %, +38 ms/s over quiet), outside pods 12 ms/s (20 %, +1.0 ms/s over quiet), "
        "kernel threads 6.4 ms/s (10 %, +6.4 ms/s over quiet); "
        "28 of 30 windows; exact");
}

TEST_CASE("a verdict names a suspect that has ended, and at most three suspects") {
  analysis::Verdict one = verdict();
  one.suspects.insert(one.suspects.begin(), {SuspectKind::container, 99, 0.05, 0});
  CHECK(describe(one, name_of_container).find("waited for a container that has ended 50 ms/s") != std::string::npos);
  CHECK(describe(one, name_of_container).find("outside pods 12 ms/s (11 %, +1.0 ms/s over quiet), …;") !=
        std::string::npos);
}

TEST_CASE("a verdict about a quota or own threads names no suspect") {
  analysis::Verdict one{.victim = kCart, .kind = analysis::Kind::self_quota, .windows_over = 3, .windows_seen = 3};
  one.statistic = {"throttled", 0.4, 0, 0.01};
  CHECK(describe(one, name_of_container) ==
        "its CPU quota takes 400 ms/s from it (limit 10 ms/s); 3 of 3 windows; exact");
}

TEST_CASE("a verdict about a shared quota names the containers that used it up") {
  analysis::Verdict one{.victim = kCart, .kind = analysis::Kind::shared_parent, .windows_over = 3, .windows_seen = 3};
  one.statistic = {"throttled_by_others", 0.32, 0, 0.01};
  one.suspects = {{SuspectKind::container, kEtl, 0.32, 0.4}};
  one.method = analysis::Method::estimated;
  CHECK(describe(one, name_of_container) ==
        "a CPU quota above it, which others use up, takes 320 ms/s from it (limit 10 ms/s); waited for "
        "batch/etl-5/main 320 ms/s (100 %, +320 ms/s over quiet); 3 of 3 windows; estimated");
}

TEST_CASE("throttled time belongs to the container's own quota or to a cgroup above, according to cpu.stat") {
  const auto stat = [](std::uint64_t ns) {
    return "nr_periods 9\nnr_throttled 3\nthrottled_time " + std::to_string(ns) + "\n";
  };
  FakeNode node({{"cgroup/cpu/be/pod/app/cpu.stat", stat(0)},
                 {"cgroup/cpu/be/pod/cpu.stat", stat(500)},
                 {"cgroup/cpu/be/cpu.stat", "nonsense\n"}});
  QuotaSources quotas(*cgroup::Layout::detect(node.roots()));
  quotas.begin_window();
  CHECK_FALSE(quotas.of("be/pod/app").is_known);
  quotas.begin_window();
  node.write("cgroup/cpu/be/pod/app/cpu.stat", stat(100));
  node.write("cgroup/cpu/be/pod/cpu.stat", stat(800));
  CHECK(quotas.of("be/pod/app").above == doctest::Approx(0.75));
  CHECK(quotas.of("be/pod/app").cgroup == "be/pod");
  CHECK(quotas.of("be/pod/sidecar").above == doctest::Approx(1));
  quotas.begin_window();
  node.write("cgroup/cpu/be/pod/app/cpu.stat", stat(900));
  CHECK(quotas.of("be/pod/app").above == 0);
  CHECK(quotas.of("be/pod/app").is_known);
  CHECK(quotas.of("be/pod/app").cgroup.empty());
}

TEST_CASE("a container may use the CPUs of its cpuset, or fewer if its quota or its pod's quota is smaller") {
  SUBCASE("on cgroup v1") {
    FakeNode node({{"cgroup/cpu/pod/app/cpu.cfs_quota_us", "-1\n"},
                   {"cgroup/cpu/pod/app/cpu.cfs_period_us", "100000\n"},
                   {"cgroup/cpu/pod/cpu.cfs_quota_us", "-1\n"},
                   {"cgroup/cpu/pod/cpu.cfs_period_us", "100000\n"},
                   {"cgroup/cpuset/pod/app/cpuset.effective_cpus", "0-3,8\n"}});
    const cgroup::Layout layout = *cgroup::Layout::detect(node.roots());
    CHECK(usable_cpus(layout, "pod/app").number == 5);
    CHECK(usable_cpus(layout, "pod/app").set.list() == "0-3,8");
    node.write("cgroup/cpu/pod/cpu.cfs_quota_us", "250000\n");
    CHECK(usable_cpus(layout, "pod/app").number == 2.5);
    node.write("cgroup/cpu/pod/app/cpu.cfs_quota_us", "150000\n");
    CHECK(usable_cpus(layout, "pod/app").number == 1.5);
  }
  SUBCASE("on cgroup v2") {
    FakeNode node({{"cgroup/cgroup.controllers", "cpuset cpu memory\n"},
                   {"cgroup/pod/app/cpu.max", "max 100000\n"},
                   {"cgroup/pod/cpu.max", "50000 100000\n"},
                   {"cgroup/pod/app/cpuset.cpus.effective", "0-3\n"}});
    const cgroup::Layout layout = *cgroup::Layout::detect(node.roots());
    CHECK(usable_cpus(layout, "pod/app").number == 0.5);
    node.write("cgroup/pod/cpu.max", "max 100000\n");
    CHECK(usable_cpus(layout, "pod/app").number == 4);
    node.write("cgroup/pod/app/cpu.max", "nonsense\n");
    CHECK(usable_cpus(layout, "pod/app").number == 4);
  }
}

TEST_CASE("a container without these files may use all CPUs") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpuset cpu memory\n"}});
  CHECK(usable_cpus(*cgroup::Layout::detect(node.roots()), "gone").number >= 1);
  CHECK(usable_cpus(*cgroup::Layout::detect(node.roots()), "gone").set.empty());
}
