// SPDX-License-Identifier: Apache-2.0
// Tests of the ladder's evidence: a step needs findings that are newer than the previous step.
#include <doctest/doctest.h>

#include "plugins/qos-interference/ladder_fixture.hpp"

using namespace koord::mitigation;
using namespace koord::mitigation::test;

namespace {

// Verdicts with windows of a second, in which pods make the service wait.
struct EvidenceFixture : LadderFixture {
  void window(std::vector<Suspect> waits) {
    if (situation.verdicts.empty()) blame({});
    Verdict& verdict = situation.verdicts[0];
    for (const Suspect& wait : waits) sums[wait.pod] += wait.waited;
    ++verdict.windows;
    verdict.suspects.clear();
    double all = 0;
    for (const auto& [pod, sum] : sums) all += sum;
    for (const auto& [pod, sum] : sums) verdict.suspects.push_back({pod, sum / verdict.windows, sum / all});
  }
  Decision after_windows(int seconds, const std::vector<Suspect>& waits) {
    Decision last;
    for (int i = 0; i < seconds; ++i) {
      window(waits);
      last = after(1);
    }
    return last;
  }

  std::map<std::uint64_t, double> sums;
};

}  // namespace

TEST_CASE_FIXTURE(LadderFixture, "a finding that is posted once justifies one step, however long it stands") {
  blame({{kEtl, 0.038, 0.62}});
  situation.verdicts[0].to_ns = situation.now_ns;
  is_found_again = false;
  SUBCASE("without windows") {}
  SUBCASE("with windows") { situation.verdicts[0].windows = 3; }
  SUBCASE("its end is as far in the future as the host permits") { situation.verdicts[0].to_ns += 10 * kSecond; }
  for (int minute = 0; minute < 60; ++minute) {
    CHECK(step_of(kEtl, after(60)) == Step::weight);
    if (minute == 30) situation.verdicts[0].id = 13;  // like a plugin that has restarted
  }
}

TEST_CASE_FIXTURE(LadderFixture,
                  "windows that were posted after a step but began before it do not justify the next step") {
  blame({{kEtl, 0.038, 0.62}});
  decide();
  is_found_again = false;
  situation.verdicts[0].to_ns = situation.now_ns + 5 * kSecond;
  CHECK(step_of(kEtl, after(60)) == Step::weight);
  situation.verdicts[0].to_ns += 1;
  CHECK(step_of(kEtl, after(1)) == Step::cap);
}

TEST_CASE_FIXTURE(EvidenceFixture,
                  "a pod that stopped is released, even if the verdict stands because of another pod") {
  ladder.set_rules({.evicts = false, .restrained = {Rank::batch}});
  after_windows(3600, {{kEtl, 0.02}, {kOther, 0.03}});
  REQUIRE(step_of(kEtl, decide()) == Step::cap);
  at(kEtl).cpus = 0.1;
  // One minute until the recent windows do not include it, and two minutes for the two steps.
  const Decision now = after_windows(200, {{kOther, 0.03}});
  CHECK(situation.verdicts[0].suspects[0].share > 0.3);  // the share over all its windows
  CHECK(now.restraints.empty());
  SUBCASE("and is not restrained again") {
    for (int minute = 0; minute < 30; ++minute) CHECK(after_windows(60, {{kOther, 0.03}}).restraints.empty());
  }
  SUBCASE("and is restrained as before soon after it begins again") {
    CHECK(step_of(kEtl, after_windows(60, {{kEtl, 0.02}, {kOther, 0.03}})) == Step::cap);
  }
}

TEST_CASE_FIXTURE(EvidenceFixture, "a pod that starts to harm late is restrained within a minute") {
  ladder.set_rules({.restrained = {Rank::batch}});
  after_windows(8 * 3600, {{kEtl, 1e-6}, {kOther, 0.03}});
  CHECK(decide().restraints.empty());
  CHECK(step_of(kEtl, after_windows(60, {{kEtl, 0.03}, {kOther, 0.03}})) == Step::weight);
}
