// SPDX-License-Identifier: Apache-2.0
#include "core/manager/batch_grant.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

using namespace koord;
using namespace koord::manager;
using namespace std::chrono_literals;
using Do = BatchGrant::Decision::Do;
using Freshness = BatchGrant::Freshness;

namespace {

constexpr CpuMemory kTen{10'000, 10'000};

// A node with reports, and its published batch resources.
struct Granted {
  explicit Granted(Duration report_period = 1min, Duration report_window = 5min) : window(report_window) {
    rules.report = report_period;
  }

  void report(std::int64_t cpu, std::int64_t memory = 10'000, bool is_recent = true) {
    grant.report(now, std::to_string(++reports), is_recent, window, {cpu, memory}, rules);
    decide();
  }
  // Returns whether a value was written.
  bool decide() {
    const BatchGrant::Decision decision = grant.decide(now, published, rules);
    if (decision.what == Do::nothing) return false;
    const auto before =
        std::exchange(published, decision.what == Do::publish ? std::optional(decision.amount) : std::nullopt);
    grant.written(now, before && published && (published->cpu < before->cpu || published->memory < before->memory));
    ++writes;
    return true;
  }
  void pass(Duration time) {
    for (const Time end = now + time; now < end; now += 1s) decide();
  }

  Time now{1h};
  GrantRules rules;
  Duration window;
  BatchGrant grant{now};
  std::optional<CpuMemory> published;
  int reports = 0, writes = 0;
};

}  // namespace

TEST_CASE("the first report that is recent is published") {
  Granted node;
  node.report(10'000);
  CHECK(node.published == kTen);
}

TEST_CASE("a report that may be old is not published, the next one is") {
  Granted node;
  node.report(10'000, 10'000, false);
  CHECK_FALSE(node.published);
  CHECK(node.grant.freshness(node.now, node.rules) == Freshness::unknown);
  node.now += 1min;
  node.report(10'000, 10'000, false);
  CHECK(node.published == kTen);
}

TEST_CASE("a loss is withdrawn with the report that shows it") {
  Granted node;
  node.report(10'000);
  node.now += 1min;
  node.report(9'500);
  CHECK(node.published->cpu == 9'500);
  node.now += 1min;
  node.report(0);
  CHECK(node.published->cpu == 0);
}

TEST_CASE("a loss below the threshold waits for the next grant") {
  Granted node;
  node.report(10'000);
  node.now += 1min;
  node.report(9'900);
  CHECK(node.published == kTen);
  node.now += 5min;
  node.report(9'900);
  CHECK(node.published->cpu == 9'900);
}

TEST_CASE("a gain of more than a tenth is granted at once, a smaller one after five minutes") {
  Granted node;
  node.report(10'000);
  node.now += 1min;
  node.report(11'000);
  CHECK(node.published == kTen);
  node.now += 1min;
  node.report(11'100);
  CHECK(node.published->cpu == 11'100);
  node.now += 1min;
  node.report(11'200);
  CHECK(node.published->cpu == 11'100);
  node.now += 4min;
  node.report(11'200);
  CHECK(node.published->cpu == 11'200);
}

TEST_CASE("with short reports a rise of use is withdrawn within ten seconds, and granted by the long window") {
  Granted node(5s, 5s);
  for (int i = 0; i < 60; ++i, node.now += 5s) node.report(10'000);
  CHECK(node.published == kTen);
  const Time rise = node.now;
  while (node.published->cpu > 2'000 && node.now - rise < 1min) {
    node.report(2'000);
    node.now += 5s;
  }
  CHECK(node.now - rise <= 10s);
  const Time fall = node.now;
  while (node.published->cpu < 9'000 && node.now - fall < 10min) {
    node.report(10'000);
    node.now += 5s;
  }
  CHECK(node.now - fall >= 50s);
  CHECK(node.now - fall <= 65s);
}

TEST_CASE("varying usage withdraws at once, and grants at most once a minute") {
  Granted node(5s, 5s);
  for (int i = 0; i < 60; ++i, node.now += 5s) node.report(10'000);
  node.writes = 0;
  for (int i = 0; i < 120; ++i, node.now += 5s) node.report(i % 4 < 2 ? 2'000 : 10'000);
  CHECK(node.writes <= 2 * 10 + 2);
}

TEST_CASE("short reports grant nothing before half of the long window is known") {
  Granted node(5s, 5s);
  int reports = 0;
  while (!node.published && reports < 100) {
    node.report(10'000);
    node.now += 5s;
    ++reports;
  }
  CHECK(reports >= 28);
  CHECK(reports <= 32);
}

TEST_CASE("a short peak between reports withdraws no more than its own amount") {
  Granted node(5s, 5s);
  for (int i = 0; i < 60; ++i, node.now += 5s) node.report(10'000);
  node.report(2'000);
  CHECK(node.published->cpu == 6'000);  // the mean of the last two reports
}

TEST_CASE("a node with a report each second costs little more than one with a report each minute") {
  Granted node(1s, 1s);
  std::size_t most = 0;
  for (int i = 0; i < 900; ++i, node.now += 1s) {
    node.report(10'000);
    most = std::max(most, node.grant.samples());
  }
  CHECK(node.published == kTen);
  CHECK(most <= 24);
  // Each report counts in the mean of five minutes, whether it is merged or not.
  for (int i = 0; i < 30; ++i, node.now += 1s) node.report(0);
  CHECK(node.published->cpu == 0);
  for (int i = 0; i < 90; ++i, node.now += 1s) node.report(10'000);
  CHECK(node.published->cpu >= 8'900);
  CHECK(node.published->cpu <= 9'200);
}

TEST_CASE("CPU and memory are decided each by itself") {
  Granted node;
  node.report(10'000, 10'000);
  node.now += 1min;
  node.report(2'000, 10'500);
  CHECK(node.published == CpuMemory{2'000, 10'000});
}

TEST_CASE("a silent node keeps its resources for three periods and the grace, then loses them in four steps") {
  Granted node;
  node.report(10'000);
  const Time last = node.now;
  node.pass(3min + 29s);
  CHECK(node.published == kTen);
  CHECK(node.grant.freshness(node.now, node.rules) == Freshness::stale);
  std::vector<std::int64_t> steps;
  while (node.published && node.published->cpu > 0 && node.now - last < 15min) {
    if (node.decide()) steps.push_back(node.published->cpu);
    node.now += 1s;
  }
  CHECK(steps == std::vector<std::int64_t>{7'500, 5'000, 2'500, 0});
  CHECK(node.now - last < 7min);
  node.pass(15min);
  CHECK_FALSE(node.published);
  CHECK(node.grant.freshness(node.now, node.rules) == Freshness::gone);
}

TEST_CASE("a node that reports again is granted again") {
  Granted node;
  node.report(10'000);
  node.pass(20min);
  CHECK_FALSE(node.published);
  node.report(10'000);
  CHECK(node.published == kTen);
}

TEST_CASE("the same report again, from a node with a stopped agent, does not count as a report") {
  Granted node;
  node.report(10'000);
  for (int i = 0; i < 20; ++i, node.now += 1min) {
    node.grant.report(node.now, "1", true, 5min, kTen, node.rules);
    node.decide();
  }
  CHECK_FALSE(node.published);
}

TEST_CASE("pods that come with the same report are taken into account at once") {
  Granted node;
  node.report(10'000);
  node.grant.report(node.now, "1", true, 5min, {4'000, 10'000}, node.rules);
  CHECK(node.decide());
  CHECK(node.published->cpu == 4'000);
}

TEST_CASE("a replica that has just begun to lead waits before it judges a node, and still removes in the end") {
  Granted node;
  node.published = kTen;
  node.report(8'000, 8'000, false);  // an outdated report
  node.pass(3min + 29s);
  CHECK(node.published == kTen);
  node.pass(15min);
  CHECK_FALSE(node.published);
}

TEST_CASE("steady reports are not written again and again") {
  Granted node;
  for (int i = 0; i < 600; ++i) {
    node.report(10'000 + i % 2);
    node.pass(1min);
  }
  CHECK(node.writes <= 1 + 600 / 5);
}
