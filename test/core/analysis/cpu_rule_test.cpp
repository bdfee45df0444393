// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/analysis/cpu_rule.hpp"

using namespace koord;
using namespace koord::analysis;

namespace {

constexpr Subject kCart = 1, kEtl = 2, kWeb = 3;

Suspect by(Subject subject, double waited) { return {SuspectKind::container, subject, waited, 1}; }

Suspect uses(Subject subject, double cpus) { return {SuspectKind::container, subject, 0, cpus}; }

// A window of a small service that is held up by a different container.
CpuWindow held_up_service() {
  return {.subject = kCart,
          .run = 0.25,
          .wait = 0.06,
          .usable_cpus = 2,
          .held_up = 0.042,
          .others = {by(kWeb, 0.005), by(kEtl, 0.038)}};
}

Finding judged(const CpuWindow& window, double quiet = 0) { return judge(window, quiet); }

}  // namespace

TEST_CASE("a service with requests that wait behind another container is interfered with, the longest wait first") {
  const Finding finding = judged(held_up_service());
  CHECK(finding.kind == Kind::interfered);
  CHECK(finding.statistic.name == "held_up_by_others");
  CHECK(finding.statistic.value == doctest::Approx(0.042));
  CHECK(finding.statistic.threshold == doctest::Approx(0.010));
  REQUIRE(finding.suspects.size() == 2);
  CHECK(finding.suspects[0].subject == kEtl);
  CHECK(finding.suspects[1].subject == kWeb);
  CHECK(finding.method == Method::exact);
}

TEST_CASE("less than 1 % of the time is not interference") {
  CpuWindow window = held_up_service();
  window.held_up = 0.009;
  CHECK(judged(window).kind == Kind::none);
}

TEST_CASE("a workload that also waits in quiet times is judged by 2.5 times its quiet level") {
  CHECK(judged(held_up_service(), 0.016).kind == Kind::interfered);
  CHECK(judged(held_up_service(), 0.017).kind == Kind::none);
  CHECK(judged(held_up_service(), 0.001).statistic.threshold == doctest::Approx(0.010));
}

TEST_CASE("waits without a known cause, and waits behind own threads, are not interference") {
  CpuWindow window = held_up_service();
  window.unexplained = 0.4;
  CHECK(judged(window).statistic.value < 0.01);
  CHECK(judged(window).kind == Kind::none);
}

TEST_CASE("a container that its own quota stops for longer than others do is at fault itself") {
  CpuWindow window = held_up_service();
  window.throttled = 0.05;
  const Finding finding = judged(window);
  CHECK(finding.kind == Kind::self_quota);
  CHECK(finding.statistic.name == "throttled");
  window.throttled = 0.04;
  CHECK(judged(window).kind == Kind::interfered);
  window = {.subject = kCart, .run = 0.2, .throttled = 0.009, .usable_cpus = 0.2};
  CHECK(judged(window).kind == Kind::none);
}

TEST_CASE("a container that a quota above it stops because another used it up has a verdict about that one") {
  CpuWindow window{.subject = kCart, .run = 0.1, .throttled = 0.4, .usable_cpus = 0.5};
  window.throttled_above = 0.4;
  window.sharers = {{SuspectKind::container, kWeb, 0, 0.1}, {SuspectKind::container, kEtl, 0, 0.3}};
  const Finding finding = judged(window);
  CHECK(finding.kind == Kind::shared_parent);
  CHECK(finding.statistic.name == "throttled_by_others");
  CHECK(finding.statistic.value == doctest::Approx(0.32));
  CHECK(finding.throttled == doctest::Approx(0.08));
  CHECK(finding.method == Method::estimated);
  REQUIRE(finding.suspects.size() == 2);
  CHECK(finding.suspects[0].subject == kEtl);
  CHECK(finding.suspects[0].waited == doctest::Approx(0.24));
  CHECK(finding.suspects[1].subject == kWeb);
}

TEST_CASE("the fault is a container's own when it used the quota up itself, or its own quota took more time") {
  CpuWindow window{.subject = kCart, .run = 0.3, .throttled = 0.4, .usable_cpus = 0.5};
  window.throttled_above = 0.4;
  window.sharers = {by(kEtl, 0)};
  window.sharers[0].usage = 0.2;
  CHECK(judged(window).kind == Kind::self_quota);
  CHECK(judged(window).suspects.empty());
  window.sharers[0].usage = 3;
  window.throttled_above = 0.1;
  CHECK(judged(window).kind == Kind::self_quota);
  window.throttled_above = 0.4;
  window.sharers.clear();  // the quota is shared with no other container
  CHECK(judged(window).kind == Kind::self_quota);
}

TEST_CASE("a container has no finding about a quota as long as it is unknown which one throttles it") {
  CpuWindow window{.subject = kCart, .run = 0.1, .throttled = 0.4, .usable_cpus = 0.5};
  window.is_quota_known = false;
  CHECK(judged(window).kind == Kind::none);
}

TEST_CASE("threads beyond the CPUs that a container may use wait through its own fault") {
  // Four threads on one CPU: one runs, three wait.
  const CpuWindow window{.subject = kCart, .run = 1, .wait = 3, .usable_cpus = 1, .held_up = 2.9, .self = 2.95};
  const Finding finding = judged(window);
  CHECK(finding.kind == Kind::self_threads);
  CHECK(finding.self == doctest::Approx(2.95));
  CHECK(finding.suspects.empty());
}

TEST_CASE("threads that wait for each other on CPUs that others use are displaced by these") {
  // Two threads, two CPUs, one of them used by others: one thread runs, and the other waits for its CPU.
  CpuWindow victim{
      .subject = kCart, .run = 1, .wait = 1, .usable_cpus = 2, .held_up = 0.9, .self = 0.8, .others = {by(kEtl, 0.1)}};
  victim.neighbours = {uses(kEtl, 0.75), uses(kWeb, 0.15), {SuspectKind::outside, 0, 0, 0.1}};
  const Finding finding = judged(victim);
  CHECK(finding.kind == Kind::interfered);
  CHECK(finding.method == Method::estimated);
  CHECK(finding.self == 0);
  REQUIRE(finding.suspects.size() == 3);
  CHECK(finding.suspects[0] == Suspect{SuspectKind::container, kEtl, 0.1 + 0.8 * 0.75, 1});
  CHECK(finding.suspects[1] == Suspect{SuspectKind::container, kWeb, 0.8 * 0.15, 0.15});
  CHECK(finding.suspects[2].kind == SuspectKind::outside);
  CHECK(finding.suspects[2].waited == doctest::Approx(0.8 * 0.1));
}

TEST_CASE("others cause waits behind own threads by the part of the CPUs that they used, not by the idle part") {
  struct Row {
    double used, idle, displaced;
  };
  CpuWindow victim{.subject = kCart, .run = 0.2, .wait = 0.1, .usable_cpus = 2, .held_up = 0.05, .self = 0.08};
  for (const Row& row : {Row{0, 1.8, 0}, Row{0.018, 1.782, 0.0008}, Row{0.9, 0.9, 0.04}, Row{1.8, 0, 0.08}}) {
    CAPTURE(row.used);
    victim.neighbours.clear();
    if (row.used > 0) victim.neighbours = {uses(kEtl, row.used)};
    victim.idle = row.idle;
    const Finding finding = judged(victim);
    CHECK(finding.self == doctest::Approx(victim.self - row.displaced));
    CHECK(finding.held_up_by_others == doctest::Approx(0.05 * row.displaced / 0.08));
    CHECK(finding.kind == (finding.held_up_by_others >= 0.01 ? Kind::interfered : Kind::none));
  }
}

TEST_CASE("others that use a part of the CPUs displace no more than that part beside a surplus of own threads") {
  // Three threads on two CPUs; a different container uses a tenth of the CPUs.
  CpuWindow victim{.subject = kCart, .run = 1.9, .wait = 1.1, .usable_cpus = 2, .held_up = 1, .self = 1.1};
  victim.neighbours = {uses(kEtl, 0.1)};
  const Finding finding = judged(victim);
  CHECK(finding.kind == Kind::self_threads);
  CHECK(finding.self == doctest::Approx(1));
  CHECK(finding.suspects.at(0).waited == doctest::Approx(0.1));
}

TEST_CASE("a container that computes is interfered with when others take 15 % of its throughput") {
  CpuWindow window{
      .subject = kCart, .run = 1.7, .wait = 0.3, .usable_cpus = 2, .held_up = 0.2, .others = {by(kEtl, 0.301)}};
  const Finding finding = judged(window);
  CHECK(finding.kind == Kind::interfered);
  CHECK(finding.statistic.name == "lost_throughput");
  CHECK(finding.statistic.value == doctest::Approx(0.301 / 2.001));
  window.others = {by(kEtl, 0.29)};
  window.wait = 0.29;
  CHECK(judged(window).kind == Kind::none);
}

TEST_CASE("a container is never charged with less than nothing, also where others displace it everywhere") {
  CpuWindow victim{.subject = kCart, .run = 0.2, .wait = 0.1, .usable_cpus = 2};
  for (int i = 1; i < 1000; ++i) {
    victim.self = 0.001 * i / 3;
    victim.neighbours = {uses(kEtl, 1.8 / i)};
    CHECK(judged(victim).self >= 0);
  }
}
TEST_CASE("a container that always has something to run is judged by its throughput alone, however little that is") {
  // A batch container with one thread: others take 3 % of its time, in waits of some milliseconds.
  CpuWindow window{
      .subject = kCart, .run = 0.96, .wait = 0.03, .usable_cpus = 2, .held_up = 0.02, .others = {by(kEtl, 0.03)}};
  CHECK(judged(window).kind == Kind::none);
  window.others = {by(kEtl, 0.18)};
  window.run = 0.8;
  window.wait = 0.19;
  CHECK(judged(window).statistic.name == "lost_throughput");
  CHECK(judged(window).kind == Kind::interfered);
  // A service that gets almost no CPU time.
  window.run = 0.02;
  window.wait = 0.97;
  window.others = {by(kEtl, 0.97)};
  CHECK(judged(window).kind == Kind::interfered);
  CHECK(judged(window).statistic.value == doctest::Approx(0.97 / 0.99));
}

TEST_CASE("short waits of a container that always has something to run are divided as its long ones") {
  CpuWindow window{.subject = kCart, .run = 0.8, .wait = 0.19, .usable_cpus = 2, .others = {by(kEtl, 0.05)}};
  Finding finding = judged(window);
  CHECK(finding.kind == Kind::interfered);
  CHECK(finding.statistic.value == doctest::Approx(0.19 / 0.99));
  CHECK(finding.method == Method::estimated);
  window.others = {by(kEtl, 0.18)};
  CHECK(judged(window).method == Method::exact);
  window.others.clear();
  CHECK(judged(window).kind == Kind::none);
}

TEST_CASE("an idle container has no finding, and no figure that is not a number") {
  const Finding finding = judged({.subject = kCart, .usable_cpus = 2});
  CHECK(finding.kind == Kind::none);
  CHECK(finding.statistic.value == 0);
}

TEST_CASE("the thresholds are settings") {
  CpuRule rule;
  rule.held_up = 0.05;
  const CpuWindow window = held_up_service();
  CHECK(judge(window, 0, rule).kind == Kind::none);
}
