// SPDX-License-Identifier: Apache-2.0
#include "core/report/delivery.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

using namespace koord;
using namespace koord::report;
using namespace std::chrono_literals;

namespace {

constexpr double kPodCame = std::numeric_limits<double>::infinity();

// A node that polls every second, and an API server that accepts every write unless the test changes that.
struct Node {
  Delivery delivery;
  Time now = from_ns(0) + 24h;
  std::vector<Time> writes = {};
  bool server_is_there = true;

  explicit Node(std::uint64_t seed = 1, const DeliveryOptions& options = {.heartbeat = 2min})
      : delivery(options, seed) {}

  void run(Duration time, double change) {
    for (const Time end = now + time; now < end; now += 1s) {
      if (!delivery.due(now, change)) continue;
      writes.push_back(now);
      server_is_there ? delivery.accepted(now) : delivery.refused(now, std::nullopt);
    }
  }
  std::vector<Duration> gaps() const {
    std::vector<Duration> gaps;
    for (std::size_t i = 1; i < writes.size(); ++i) gaps.push_back(writes[i] - writes[i - 1]);
    return gaps;
  }
};

bool all_within(const std::vector<Duration>& gaps, Duration least, Duration most) {
  return std::all_of(gaps.begin(), gaps.end(), [&](Duration gap) { return gap >= least && gap <= most; });
}

}  // namespace

TEST_CASE("nothing is due before it is known what the API server has") {
  Node node;
  node.run(1h, kPodCame);
  CHECK(node.writes.empty());
}

TEST_CASE("without a report there the first is due within half a minute") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Node node(seed);
    node.delivery.begin(node.now, std::nullopt);
    node.run(31s, 0);
    CHECK(node.writes.size() == 1);
  }
}

TEST_CASE("an unchanged node reports at its heartbeat, up to a thirtieth early and never late") {
  Node node;
  node.delivery.begin(node.now, 0s);
  node.run(24h, 0);
  CHECK(node.writes.size() >= 720);
  CHECK(all_within(node.gaps(), 116s, 121s));
}

TEST_CASE("by default no report gets older than a minute, and none comes sooner than 58 s without a change") {
  for (double change : {0.0, kPodCame}) {
    Node node(1, {});
    node.delivery.begin(node.now, 0s);
    node.run(24h, change);
    CHECK(all_within(node.gaps(), 58s, 60s));
  }
}

TEST_CASE("a change is reported when the interval of the spec has passed, up to a tenth later") {
  Node node;
  node.delivery.begin(node.now, 0s);
  node.run(24h, 5.1);
  CHECK(all_within(node.gaps(), 60s, 67s));
}

TEST_CASE("a change of just the threshold waits for the heartbeat") {
  Node node;
  node.delivery.begin(node.now, 0s);
  node.run(100s, 5.0);
  CHECK(node.writes.empty());
}

TEST_CASE("a node that was quiet for the interval reports a change at once") {
  Node node;
  node.delivery.begin(node.now, 0s);
  node.run(70s, 0);
  node.run(1s, kPodCame);
  CHECK(node.writes.size() == 1);
}

TEST_CASE("an interval longer than the heartbeat is the heartbeat") {
  Node node(1, {.heartbeat = 2min, .interval = 10min});
  node.delivery.begin(node.now, 0s);
  node.run(24h, kPodCame);
  CHECK(all_within(node.gaps(), 10min, 661s));
}

TEST_CASE("an interval of nothing still leaves ten seconds between writes") {
  Node node(1, {.heartbeat = 2min, .interval = 0s});
  node.delivery.begin(node.now, 0s);
  node.run(1h, kPodCame);
  CHECK(all_within(node.gaps(), 10s, 12s));
}

TEST_CASE("a restart without a change does not write: the report of before counts with its age") {
  Node node;
  node.delivery.begin(node.now, 50s);
  node.run(57s, 0);
  CHECK(node.writes.empty());
  node.run(15s, 0);
  CHECK(node.writes.size() == 1);
}

TEST_CASE("after a restart a change waits until what is reported from has settled") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Node node(seed);
    node.delivery.begin(node.now, 100s);
    node.run(30s, kPodCame);
    CHECK(node.writes.empty());
    node.run(31s, kPodCame);
    CHECK(node.writes.size() == 1);
  }
}

TEST_CASE("a report from the future is of now") {
  Node node;
  node.delivery.begin(node.now, -1h);
  node.run(121s, 0);
  CHECK(node.writes.size() == 1);
}

TEST_CASE("refused writes come more and more rarely, up to once in half a minute to a minute, each time another") {
  Node node;
  node.delivery.begin(node.now, 0s);
  node.server_is_there = false;
  node.run(2h, kPodCame);
  const std::vector<Duration> gaps = node.gaps();
  CHECK(all_within(gaps, 10s, 61s));
  CHECK(all_within({gaps.begin() + 6, gaps.end()}, 30s, 61s));
  CHECK(std::minmax_element(gaps.begin() + 6, gaps.end()).second[0] -
            std::minmax_element(gaps.begin() + 6, gaps.end()).first[0] >
        10s);
}

TEST_CASE("Retry-After is waited for, and a little longer") {
  Node node;
  node.delivery.begin(node.now, std::nullopt);
  node.delivery.refused(node.now, 5min);
  node.run(5min, kPodCame);
  CHECK(node.writes.empty());
  node.run(11s, kPodCame);
  CHECK(node.writes.size() == 1);
}

TEST_CASE("after an outage nodes come back apart, and each writes once, not what it missed") {
  std::vector<Time> first;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Node node(seed * 977);
    node.delivery.begin(node.now, 0s);
    node.server_is_there = false;
    node.run(2h, kPodCame);
    node.writes.clear();
    node.server_is_there = true;
    node.run(70s, kPodCame);
    REQUIRE(!node.writes.empty());
    CHECK(node.writes.size() <= 2);
    first.push_back(node.writes[0]);
  }
  std::sort(first.begin(), first.end());
  // 300 nodes within a minute are five per second on average.
  std::size_t busiest = 0;
  for (auto at = first.begin(); at != first.end(); ++at)
    busiest =
        std::max<std::size_t>(busiest, static_cast<std::size_t>(std::upper_bound(at, first.end(), *at + 999ms) - at));
  CHECK(busiest <= 20);
}

TEST_CASE("a shorter interval holds for the report that is already out") {
  Node node(1, {.heartbeat = 2min, .interval = 10min});
  node.delivery.begin(node.now, 0s);
  node.run(2min, kPodCame);
  CHECK(node.writes.empty());
  node.delivery.set_options({.heartbeat = 2min, .interval = 30s});
  node.run(1s, kPodCame);
  CHECK(node.writes.size() == 1);
}
