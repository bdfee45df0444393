// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "plugins/qos-interference/ladder_fixture.hpp"

using namespace koord::mitigation;
using namespace koord::mitigation::test;

TEST_CASE_FIXTURE(LadderFixture,
                  "a batch pod that slows down a service gets the steps weight, cap and eviction, a minute each") {
  blame({{kEtl, 0.038, 0.62}});
  const Decision first = decide();
  CHECK(step_of(kEtl, first) == Step::weight);
  CHECK(first.restraints[0].cause.verdict == 12);
  CHECK(first.restraints[0].cause.victim_name == "shop/cart/app");
  CHECK(step_of(kEtl, after(59)) == Step::weight);
  const Decision second = after(1);
  CHECK(step_of(kEtl, second) == Step::cap);
  CHECK(second.restraints[0].limit == 0.8);
  CHECK(second.restraints[0].has_weight);
  CHECK(second.evictions.empty());
  const Decision third = after(60);
  REQUIRE(third.evictions.size() == 1);
  CHECK(third.evictions[0].pod == kEtl);
  CHECK(step_of(kEtl, third) == Step::evict);
  CHECK(after(30).evictions.empty());
  CHECK(after(30).evictions.size() == 1);
}

TEST_CASE_FIXTURE(LadderFixture, "only pods of a lower class than the victim are restrained") {
  blame({{kOther, 0.5, 0.6}, {kCart, 0.2, 0.3}});
  CHECK(decide().restraints.empty());
  at(kOther).rank = Rank::mid;
  at(kCart).rank = Rank::mid;
  CHECK(after(100).restraints.empty());
  at(kCart).rank = Rank::batch;
  CHECK(after(100).restraints.empty());
  at(kCart).rank = Rank::prod;
  CHECK(step_of(kOther, after(100)) == Step::weight);
}

TEST_CASE_FIXTURE(LadderFixture,
                  "best-effort pods are restrained as far as possible before batch pods are, then mid ones") {
  blame({{kEtl, 0.04, 0.4}, {kReport, 0.03, 0.3}, {kNightly, 0.02, 0.2}});
  ladder.set_rules({.evicts = false});
  Decision now = decide();
  CHECK(step_of(kNightly, now) == Step::weight);
  CHECK(now.restraints.size() == 1);
  CHECK(after(60).restraints.size() == 1);
  now = after(60);
  CHECK(step_of(kNightly, now) == Step::cap);
  CHECK(step_of(kEtl, now) == Step::weight);
  CHECK(now.restraints.size() == 2);
  after(60);
  CHECK(step_of(kReport, after(60)) == Step::weight);
}

TEST_CASE_FIXTURE(LadderFixture, "a pod that cannot be restrained does not protect pods of higher classes") {
  at(kNightly).cgroup_dir = "kubepods/besteffort/nightly";
  SUBCASE("it uses what it requests") { at(kNightly).cpu_request = 1.2; }
  SUBCASE("its use is unknown") { at(kNightly).cpus.reset(); }
  blame({{kEtl, 0.04, 0.4}, {kNightly, 0.02, 0.2}});
  const Decision now = decide();
  CHECK(now.restraints.size() == 1);
  CHECK(step_of(kEtl, now) == Step::weight);
  REQUIRE(now.left_alone.size() == 1);
  CHECK(now.left_alone[0].first == "nightly");
}

TEST_CASE_FIXTURE(LadderFixture, "a pod with a small share of the waits is not restrained") {
  blame({{kEtl, 0.01, 0.19}});
  CHECK(decide().restraints.empty());
  blame({{kEtl, 0.01, 0.2}});
  CHECK(decide().restraints.size() == 1);
}

TEST_CASE_FIXTURE(LadderFixture, "pods beyond the budget of the node are not restrained, and the reason is reported") {
  ladder.set_rules({.most_pods = 1});
  at(kNightly).rank = Rank::batch;
  blame({{kEtl, 0.03, 0.4}, {kNightly, 0.02, 0.3}});
  for (int minute = 0; minute < 10; ++minute) {
    const Decision now = after(60);
    CHECK(now.restraints.size() == 1);
    CHECK(step_of(kEtl, now) != Step::none);
    REQUIRE(now.left_alone.size() == 1);
    CHECK(now.left_alone[0].first == "nightly");
  }
}

TEST_CASE_FIXTURE(LadderFixture, "steps that can have no effect are left out") {
  blame({{kEtl, 0.038, 0.62}});
  SUBCASE("weights of cgroups with different parents") { at(kEtl).cgroup_dir = "kubepods/besteffort/etl"; }
  SUBCASE("the weight of an idle cgroup") { at(kEtl).is_idle = true; }
  SUBCASE("a weight that the kernel lacks") { situation.missing_knobs = {"cpu.weight"}; }
  const Decision first = decide();
  CHECK(step_of(kEtl, first) == Step::cap);
  CHECK_FALSE(first.restraints[0].has_weight);
}

TEST_CASE_FIXTURE(LadderFixture,
                  "a pod that uses no more than it requests, or an unknown amount, is neither capped nor evicted") {
  blame({{kEtl, 0.038, 0.62}});
  SUBCASE("no more than it requests") { at(kEtl).cpu_request = 1.6; }
  SUBCASE("unknown") { at(kEtl).cpus.reset(); }
  for (int minute = 0; minute < 10; ++minute) {
    const Decision now = after(60);
    CHECK(step_of(kEtl, now) == Step::weight);
    CHECK(now.evictions.empty());
  }
}

TEST_CASE_FIXTURE(LadderFixture, "a cap is not below the pod's request") {
  at(kEtl).cpu_request = 1.2;
  blame({{kEtl, 0.038, 0.62}});
  decide();
  CHECK(after(60).restraints[0].limit == 1.2);
}

TEST_CASE_FIXTURE(LadderFixture, "a kept cap rises with the pod's request, and is dropped if it takes nothing") {
  SUBCASE("CPUs") {
    blame({{kEtl, 0.038, 0.62}});
    decide();
    REQUIRE(after(60).restraints[0].limit == 0.8);
    at(kEtl).cpus = 0.8;
    at(kEtl).cpu_request = 1.2;
    CHECK(after(1).restraints[0].limit == 1.2);
    at(kEtl).cpu_request = 1.6;
    const Decision now = after(1);
    CHECK(step_of(kEtl, now) == Step::weight);
    REQUIRE(now.changes.size() == 1);
    CHECK(now.changes[0].why == "its request has grown to what it used");
    CHECK(step_of(kEtl, after(600)) == Step::weight);
  }
  SUBCASE("memory") {
    blame({{kEtl, 10, 0.62}}, Resource::memory);
    decide();
    at(kEtl).memory_request = 0.95e9;
    CHECK(after(1).restraints[0].high == 0.95e9);
    at(kEtl).memory_request = 1e9;
    CHECK(after(1).restraints.empty());
  }
}

TEST_CASE_FIXTURE(LadderFixture, "a pod on a node without cpu.max is not evicted, because no cap was tried") {
  blame({{kEtl, 0.038, 0.62}});
  Step last = Step::weight;
  SUBCASE("it keeps its weight") {}
  SUBCASE("it has no weight") {
    at(kEtl).is_idle = true;
    last = Step::none;
  }
  for (int minute = 0; minute < 30; ++minute) {
    // As with MissingKnobs, the knob is known to be missing after an attempt, and tried again later.
    Decision now = after(60);
    CHECK(now.evictions.empty());
    if (step_of(kEtl, now) == Step::cap) {
      situation.missing_knobs = {"cpu.max"};
      now = after(1);
      CHECK(step_of(kEtl, now) == last);
      CHECK(now.evictions.empty());
    } else if (minute % 10 == 9) {
      situation.missing_knobs.clear();
    }
  }
}

TEST_CASE_FIXTURE(LadderFixture, "no step follows a step that is not in effect, as in shadow mode") {
  blame({{kEtl, 0.038, 0.62}});
  for (int minute = 0; minute < 10; ++minute) {
    situation.now_ns += 60 * kSecond;
    CHECK(step_of(kEtl, decide(false)) == Step::weight);
  }
}

TEST_CASE_FIXTURE(LadderFixture,
                  "the time of a step begins when it takes effect, as when an operator ends shadow mode") {
  blame({{kEtl, 0.038, 0.62}});
  for (int second = 0; second < 600; ++second) {
    situation.now_ns += kSecond;
    decide(false);
  }
  decide();
  CHECK(step_of(kEtl, after(59)) == Step::weight);
  CHECK(step_of(kEtl, after(1)) == Step::cap);
}

TEST_CASE_FIXTURE(LadderFixture, "findings from before a step do not justify the next one") {
  blame({{kEtl, 0.04, 0.8}});
  situation.verdicts[0].windows = 100;
  decide();
  SUBCASE("no window since the step") { CHECK(step_of(kEtl, after(60)) == Step::weight); }
  SUBCASE("windows that blame others") {
    situation.verdicts[0].windows = 160;
    situation.verdicts[0].suspects = {{kEtl, 0.026, 0.5}};  // 100 × 0.04 + 60 × 0.0027 of 100 × 0.05 + 60 × 0.055
    CHECK(step_of(kEtl, after(60)) == Step::weight);
  }
  SUBCASE("windows that blame it") {
    situation.verdicts[0].windows = 160;
    CHECK(step_of(kEtl, after(60)) == Step::cap);
  }
  SUBCASE("a new verdict") {
    situation.verdicts[0].id = 13;
    CHECK(step_of(kEtl, after(60)) == Step::cap);
  }
}

TEST_CASE_FIXTURE(LadderFixture,
                  "a pod that needs no more than it gets is released in reverse order, a minute for each step") {
  blame({{kEtl, 0.038, 0.62}});
  decide();
  after(60);
  situation.verdicts.clear();
  at(kEtl).cpus = 0.1;
  CHECK(step_of(kEtl, after(59)) == Step::cap);
  CHECK(step_of(kEtl, after(1)) == Step::weight);
  CHECK(step_of(kEtl, after(59)) == Step::weight);
  CHECK(step_of(kEtl, after(1)) == Step::none);
  after(600);
  CHECK(ladder.is_empty());
}

TEST_CASE_FIXTURE(LadderFixture, "a pod without a remaining victim is released after a minute") {
  blame({{kEtl, 0.038, 0.62}});
  decide();
  situation.verdicts.clear();
  at(kCart).handle = 77;
  CHECK(step_of(kEtl, after(60)) == Step::none);
}

TEST_CASE_FIXTURE(
    LadderFixture,
    "a pod that still wants its former usage is released late, restored at once, and then released later") {
  blame({{kEtl, 0.038, 0.62}});
  decide();
  for (const std::uint64_t wait : {600, 1200, 2400}) {
    situation.verdicts.clear();
    CHECK(step_of(kEtl, after(wait - 1)) == Step::weight);
    CHECK(step_of(kEtl, after(1)) == Step::none);
    blame({{kEtl, 0.038, 0.62}});
    CHECK(step_of(kEtl, after(5)) == Step::weight);
  }
}

TEST_CASE_FIXTURE(LadderFixture, "a restored cap is the former one, even if the pod uses less now") {
  blame({{kEtl, 0.038, 0.62}});
  decide();
  REQUIRE(after(60).restraints[0].limit == 0.8);
  situation.verdicts.clear();
  at(kEtl).cpus = 0.8;
  REQUIRE(step_of(kEtl, after(600)) == Step::weight);
  blame({{kEtl, 0.038, 0.62}});
  const Decision now = after(5);
  CHECK(step_of(kEtl, now) == Step::cap);
  CHECK(now.restraints[0].limit == 0.8);
}

TEST_CASE_FIXTURE(LadderFixture, "memory is restrained by memory.high: nine tenths of the usage, then half") {
  blame({{kEtl, 10, 0.62}}, Resource::memory);
  const Decision first = decide();
  CHECK(first.restraints[0].high == 0.9e9);
  const Decision second = after(60);
  CHECK(second.restraints[0].limit == 0.5e9);
}

TEST_CASE_FIXTURE(LadderFixture, "for block I/O only the weight is lowered") {
  blame({{kEtl, 0.01, 0.62}}, Resource::blkio);
  for (int minute = 0; minute < 10; ++minute) {
    const Decision now = after(60);
    CHECK(step_of(kEtl, now) == Step::weight);
    CHECK(now.evictions.empty());
  }
}

TEST_CASE_FIXTURE(
    LadderFixture,
    "a pod that forbids eviction is not evicted, and one of a class that is not configured is not restrained") {
  SUBCASE("its annotation forbids eviction") {
    at(kEtl).may_be_evicted = false;
    blame({{kEtl, 0.038, 0.62}});
    for (int minute = 0; minute < 10; ++minute) CHECK(after(60).evictions.empty());
    CHECK(step_of(kEtl, decide()) == Step::cap);
  }
  SUBCASE("its class is not configured") {
    ladder.set_rules({.restrained = {Rank::best_effort}});
    blame({{kEtl, 0.038, 0.62}});
    CHECK(decide().restraints.empty());
  }
}

TEST_CASE_FIXTURE(LadderFixture, "a pod that ended is removed, and one that changed its class is released at once") {
  blame({{kEtl, 0.038, 0.62}});
  decide();
  at(kEtl).rank = Rank::prod;
  CHECK(after(1).restraints.empty());
  CHECK(ladder.is_empty());
}

TEST_CASE_FIXTURE(LadderFixture, "at most one pod of the node is evicted in the duration of a step") {
  at(kNightly).rank = Rank::batch;
  blame({{kEtl, 0.03, 0.4}, {kNightly, 0.02, 0.3}});
  decide();
  after(60);
  CHECK(after(60).evictions.size() == 1);
  CHECK(after(1).evictions.empty());
}

TEST_CASE_FIXTURE(LadderFixture, "a refused eviction does not count, and does not protect pods of higher classes") {
  at(kNightly).rank = Rank::batch;
  blame({{kEtl, 0.03, 0.4}, {kNightly, 0.02, 0.3}, {kReport, 0.01, 0.2}});
  decide();
  after(60);
  Decision now = after(60);
  REQUIRE(now.evictions.size() == 1);
  REQUIRE(now.evictions[0].pod == kEtl);
  ladder.refused(now.evictions[0], now);
  CHECK(step_of(kEtl, now) == Step::cap);
  CHECK(now.changes.empty());
  now = after(1);
  REQUIRE(now.evictions.size() == 1);
  CHECK(now.evictions[0].pod == kNightly);
  CHECK(step_of(kEtl, now) == Step::cap);
  now = after(60);
  CHECK(step_of(kReport, now) == Step::weight);
  REQUIRE(now.evictions.size() == 1);  // requested again
  CHECK(now.evictions[0].pod == kEtl);
}

TEST_CASE_FIXTURE(LadderFixture,
                  "a step is restored although the budget is used up, if the pod itself is counted in it") {
  ladder.set_rules({.most_pods = 1, .evicts = false});
  const Verdict cpu = verdict({{kEtl, 0.038, 0.62}});
  const Verdict memory = verdict({{kEtl, 10, 0.62}}, Resource::memory, 13);
  situation.verdicts = {cpu, memory};
  CHECK(decide().restraints.size() == 2);
  situation.verdicts = {memory};
  CHECK(after(600).restraints.size() == 1);
  situation.verdicts = {cpu, memory};
  const Decision now = after(5);
  CHECK(now.restraints.size() == 2);
  CHECK(now.left_alone.empty());
}
