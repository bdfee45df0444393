// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/verdict_post.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "test/support/fake_host.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::interference;
using namespace koord::test;
using namespace std::chrono_literals;
using analysis::Kind;
using analysis::SuspectKind;

namespace {

struct OnHost {
  OnHost() { publish(3); }

  void publish(std::size_t n) {
    std::vector<state::Pod> pods(n);
    for (std::size_t i = 0; i < n; ++i) pods[i].uid = pods[i].name = "pod-" + std::to_string(i);
    host.hub().publish({.pods = pods});
  }
  std::uint64_t handle(std::size_t pod) { return host.hub().current()->pods[pod].handle; }
  std::vector<verdict::RecordPtr> standing() { return host.services().verdicts.standing()->records; }

  analysis::Verdict verdict(std::size_t victim, Kind kind = Kind::interfered) {
    analysis::Verdict verdict;
    verdict.victim = handle(victim);
    verdict.kind = kind;
    verdict.statistic = {"held_up_by_others", 0.042, 0.003, 0.01};
    verdict.suspects = {{SuspectKind::container, handle(2), 0.06, 1.7, 0.02}, {SuspectKind::outside, 0, 0.02, 0.3, 0}};
    verdict.self = 0.01;
    verdict.unexplained = 0.01;
    verdict.from = host.clock().now() - 10s;
    verdict.to = host.clock().now();
    verdict.windows_over = 8;
    verdict.windows_seen = 10;
    return verdict;
  }

  FakeNode node;
  FakeHost host{node};
  VerdictPost posts{host.abi(), 1s};
};

}  // namespace

TEST_CASE_FIXTURE(OnHost, "a verdict of the analysis is posted with its suspects and their shares") {
  posts.update({verdict(0)});
  REQUIRE(standing().size() == 1);
  const verdict::Record& record = *standing()[0];
  CHECK(record.kind == verdict::Kind::interfered);
  CHECK(record.resource == verdict::Resource::cpu);
  CHECK(record.method == verdict::Method::exact);
  CHECK(record.statistic.name == "held_up_by_others");
  CHECK(record.statistic.value == 0.042);
  CHECK(record.to - record.from == 11s);
  CHECK(record.windows_over == 8);
  CHECK(record.own == 0.01);
  REQUIRE(record.suspects.size() == 2);
  CHECK(record.suspects[0].subject.handle == handle(2));
  CHECK(record.suspects[0].name == "pod-2");
  CHECK(record.suspects[0].share == doctest::Approx(0.6));
  CHECK(record.suspects[0].usage == 1.7);
  CHECK(record.suspects[0].excess == doctest::Approx(0.04));
  CHECK(record.suspects[1].kind == verdict::SuspectKind::outside);
  CHECK(record.suspects[1].share == doctest::Approx(0.2));
}

TEST_CASE_FIXTURE(OnHost, "verdicts that do not stand any more are ended, and a change of kind gives another verdict") {
  posts.update({verdict(0), verdict(1)});
  posts.update({verdict(1, Kind::self_threads)});
  REQUIRE(standing().size() == 1);
  CHECK(standing()[0]->kind == verdict::Kind::self_threads);
  posts.update({});
  CHECK(standing().empty());
  CHECK(host.services().verdicts.history().size() == 3);
}

TEST_CASE_FIXTURE(OnHost, "verdicts are posted again every few windows, before their time to live ends") {
  for (int window = 0; window < 10; ++window) posts.update({verdict(0)});
  CHECK(host.services().verdicts.posted() == 2);
  CHECK(VerdictPost::kRepeat * 1s < plugin::Verdict().ttl / 2);
}

TEST_CASE_FIXTURE(OnHost, "a victim that has ended does not prevent the posts about others") {
  const std::vector<analysis::Verdict> both = {verdict(1), verdict(0)};
  publish(1);
  posts.update(both);
  REQUIRE(standing().size() == 1);
  CHECK(standing()[0]->victim.handle == handle(0));
}

TEST_CASE_FIXTURE(OnHost, "a verdict has the requests of its suspects, the findings on other resources, and a note") {
  Details details;
  details.request = [this](std::uint64_t suspect) { return suspect == handle(2) ? 0.5 : 7; };
  details.looked_at = [this](std::uint64_t victim) {
    CHECK(victim == handle(0));
    return std::vector<std::pair<std::string, std::string>>{{"cpu", "its own"}, {"memory", "0 refaults/s"}};
  };
  details.note = "run segments of each CPU";
  posts.update({verdict(0)}, details);
  REQUIRE(standing().size() == 1);
  const verdict::Record& record = *standing()[0];
  CHECK(record.note == "run segments of each CPU");
  REQUIRE(record.others.size() == 1);
  CHECK(record.others[0] == std::pair<std::string, std::string>("memory", "0 refaults/s"));
  CHECK(record.suspects[0].request == 0.5);
  CHECK(std::isnan(record.suspects[1].request));
}
