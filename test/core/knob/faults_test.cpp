// SPDX-License-Identifier: Apache-2.0
// Faults of knobs on this machine's kernel: two strategies that disagree, other writers of the same file, containers
// that end, and a restart.
#include "test/core/knob/governed_node.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using namespace koord::test;
using namespace std::chrono_literals;

TEST_CASE_FIXTURE(
    GovernedNode,
    "two strategies that disagree as long as they like: one value, one write, the loser learns the winner") {
  const std::string before = read(pod, "cpu.max");
  WriteCount writes(quota_file(pod));
  for (int round = 0; round < 100; ++round) {
    propose(round % 2 ? "mild" : "strict", {intent(pod, "cpu.max", round % 2 ? "40000 100000" : "20000 100000")});
    writes.turn();
    second(round % 2 ? "strict" : "mild", {intent(pod, "cpu.max", round % 2 ? "20000 100000" : "40000 100000")});
    writes.turn();
    REQUIRE(read(pod, "cpu.max") == "20000 100000");
  }
  CHECK(writes.count() == 1);
  CHECK(last_reported("strict").outcome == Outcome::applied);
  CHECK(last_reported("mild").outcome == Outcome::lost);
  CHECK(last_reported("mild").winner == "strict");
  CHECK(last_reported("mild").final_value == "20000 100000");
  CHECK(decisions(Outcome::applied).size() == 1);
  CHECK(decisions(Outcome::lost).size() == 1);

  propose("mild", {intent(pod, "cpu.max", "40000 100000", 1)});  // now it has a higher priority than strict
  CHECK(read(pod, "cpu.max") == "40000 100000");
  CHECK(last_reported("strict").winner == "mild");
  governor->withdraw({"mild", "main"});
  CHECK(read(pod, "cpu.max") == "20000 100000");
  governor->withdraw({"strict", "main"});
  CHECK(read(pod, "cpu.max") == before);
}

TEST_CASE_FIXTURE(
    GovernedNode,
    "a user's write of a managed file is overwritten once, and the user's second value is restored at the end") {
  const Plan plan{intent(pod, "cpu.max", "20000 100000")};
  propose("suppress", plan);
  write_quota(pod, 70'000);
  WriteCount writes(quota_file(pod));
  for (int i = 0; i < 120; ++i) {
    second("suppress", plan);
    writes.turn();
  }
  CHECK(read(pod, "cpu.max") == "20000 100000");
  CHECK(writes.count() == 1);
  write_quota(pod, 70'000);
  governor->withdraw({"suppress", "main"});
  CHECK(read(pod, "cpu.max") == "70000 100000");
  REQUIRE(decisions(Outcome::left).size() == 1);
  CHECK(decisions(Outcome::left)[0].plugin == "suppress");
  CHECK(journal->size() == 0);
}

TEST_CASE_FIXTURE(
    GovernedNode,
    "a kubelet that resets a quota each second for half an hour is left alone mostly, and has few records") {
  const Plan plan{intent(pod, "cpu.max", "20000 100000")};
  std::vector<int> written;  // the seconds of the writes
  for (int i = 0; i < 1800; ++i) {
    write_quota(pod, 70'000);
    second("suppress", plan);
    if (read(pod, "cpu.max") == "20000 100000") written.push_back(i);
  }
  REQUIRE(written.size() > 4);
  CHECK(written.size() < 12);
  CHECK(written[2] - written[1] >= 5);
  CHECK(written[3] - written[2] >= 300);
  const std::vector<Decision> contested = decisions(Outcome::contested);
  REQUIRE(contested.size() > 4);
  CHECK(contested.back().problem == "another process keeps writing it, now '70000 100000'; it is left alone for 5m");
  CHECK(governor->decisions().size() < 2 * written.size());
  governor->withdraw({"suppress", "main"});
  CHECK(read(pod, "cpu.max") == "70000 100000");
  CHECK(governor->held() == 0);
}

TEST_CASE_FIXTURE(
    GovernedNode,
    "a writer of all files at once, like a reload of systemd, is written over as soon as it is detected") {
  const Plan plan{intent(pod, "cpu.max", "40000 100000"), intent(app, "cpu.max", "20000 100000"),
                  intent(app, "memory.max", "67108864")};
  propose("suppress", plan);
  write_quota(app, 30'000);
  write_quota(pod, 70'000);
  app.limit_memory(32 << 20);
  clock.advance(60s);
  propose("suppress", plan);
  CHECK(read(pod, "cpu.max") == "40000 100000");
  CHECK(read(app, "cpu.max") == "20000 100000");
  CHECK(read(app, "memory.max") == "67108864");
  CHECK(decisions(Outcome::contested).empty());
}

TEST_CASE_FIXTURE(GovernedNode,
                  "containers that end between the read and the write: reported once each, and nothing stays of them") {
  constexpr int kMany = 30;
  for (int i = 0; i < kMany; ++i) {
    auto ended = std::make_unique<RealCgroup>(pod, "ended" + std::to_string(i));
    if (i % 2 == 0) propose("suppress", {intent(*ended, "cpu.max", "30000 100000")});  // its original is already held
    meanwhile->run = [&] { ended->remove(); };
    const Plan plan{intent(*ended, "cpu.max", "20000 100000"),
                    intent(app, "cpu.max", i % 2 ? "50000 100000" : "40000 100000")};
    for (int again = 0; again < 5; ++again) second("suppress", plan);
    CHECK(read(app, "cpu.max") == (i % 2 ? "50000 100000" : "40000 100000"));
  }
  CHECK(decisions(Outcome::gone).size() == kMany);
  CHECK(decisions(Outcome::failed).empty());
  CHECK(governor->held() == 1);
  CHECK(journal->size() == 1);
  governor->stop();
  CHECK(journal->size() == 0);
}

TEST_CASE_FIXTURE(GovernedNode, "a container that ends while it is reverted is no failure") {
  auto ended = std::make_unique<RealCgroup>(pod, "ended");
  propose("suppress", {intent(*ended, "cpu.max", "20000 100000")});
  meanwhile->run = [&] { ended->remove(); };
  propose("suppress", {});
  CHECK(decisions(Outcome::failed).empty());
  CHECK(governor->held() == 0);
  CHECK(journal->size() == 0);
}

TEST_CASE_FIXTURE(GovernedNode, "another start with the same intents writes nothing") {
  const Plan plan{intent(pod, "cpu.max", "40000 100000"), intent(app, "cpu.max", "20000 100000")};
  propose("suppress", plan);
  WriteCount of_pod(quota_file(pod)), of_app(quota_file(app));
  begin();
  REQUIRE(governor->adopted() == 2);
  for (int i = 0; i < 60; ++i) second("suppress", plan);
  CHECK_FALSE(of_pod.turn());
  CHECK_FALSE(of_app.turn());
  CHECK(governor->adopted() == 0);
  governor->stop();
  CHECK(of_pod.turn());
}

TEST_CASE_FIXTURE(
    GovernedNode,
    "a strategy that is switched off while it holds knobs: all are as before, read back, no others are touched") {
  const std::string quota = read(pod, "cpu.max"), shares = read(pod, "cpu.shares");
  propose("suppress", {intent(pod, "cpu.max", "40000 100000"), intent(pod, "cpu.shares", "512")});
  propose("burst", {intent(app, "cpu.max", "30000 100000")});
  std::vector<Release> released;
  governor->on_release([&](std::vector<Release> releases) { released = std::move(releases); });
  governor->set_mode("suppress", Mode::off);
  CHECK(read(pod, "cpu.max") == quota);
  CHECK(read(pod, "cpu.shares") == shares);
  CHECK(read(app, "cpu.max") == "30000 100000");
  CHECK(released.size() == 2);
  const std::vector<Decision> reverted = decisions(Outcome::reverted);
  REQUIRE(reverted.size() == 2);
  CHECK(reverted[0].after == quota);
  CHECK(reverted[0].plugin == "suppress");
}
