// SPDX-License-Identifier: Apache-2.0
// Evictions, from a strategy's request to the API server's pods and Events.
#include "node_of_twenty.hpp"

using namespace koord;
using namespace koord::evict;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("pods end through the API server, with a record and an Event each, until enough is released") {
  NodeOfTwenty node;
  CHECK(node.round(2 * kGiB) == 2);
  CHECK(node.going() == Names{"pod-1", "pod-2"});
  REQUIRE(node.count(decision::Outcome::evicted) == 2);
  CHECK(node.count(decision::Outcome::asked) == 2);
  const decision::Decision& first = *std::find_if(node.decisions.begin(), node.decisions.end(), [](const auto& d) {
    return d.outcome == decision::Outcome::evicted;
  });
  CHECK(first.pod_name == "pod-1");
  CHECK(first.plugin == "qos-memory-evict");
  CHECK(first.reason == "the node is short of memory");
  CHECK(first.inputs == decltype(first.inputs){{"feature", "BEMemoryEvict"},
                                               {"missing_memory", "2.00 GiB"},
                                               {"releases_memory", "1.00 GiB"}});
  CHECK(node.until(
      [&] { return node.has_event("pod-1", "evictPodSuccess") && node.has_event("pod-2", "evictPodSuccess"); }));
  CHECK(node.round(2 * kGiB) == 0);
}

TEST_CASE("in shadow no request is sent, and each decision is reported once") {
  NodeOfTwenty node;
  node.mode = koord::Mode::shadow;
  for (int i = 0; i < 10; ++i) CHECK(node.round(2 * kGiB) == 0);
  CHECK(node.evictions_asked() == 0);
  CHECK(node.count(decision::Outcome::shadow) == 2);
  CHECK(node.going().empty());
}

TEST_CASE("the requests of a strategy that is off are ignored") {
  NodeOfTwenty node;
  node.mode = koord::Mode::off;
  CHECK(node.round(2 * kGiB) == 0);
  CHECK(node.decisions.empty());
}

TEST_CASE("an eviction that the budget holds back is reported once, with the pod and the reason") {
  NodeOfTwenty node(config::EvictionTier::api, 1);
  CHECK(node.round(2 * kGiB) == 1);
  for (int i = 0; i < 5; ++i) CHECK(node.round(2 * kGiB) == 0);
  CHECK(node.held_back == Names{"pod-2: as many as evict.mostPods have gone in evict.window"});
}

TEST_CASE(
    "a disruption budget is respected: its pod stays, the next one is evicted, and requests are rarely repeated") {
  NodeOfTwenty node;
  node.put_budget("pod-1", 0);
  CHECK(node.round(kGiB) == 1);
  CHECK(node.going().empty());
  CHECK(node.count(decision::Outcome::refused) == 1);
  CHECK(node.decisions.back().problem ==
        "over budget: 429 TooManyRequests: The disruption budget pod-1 has no disruption left");
  CHECK(node.round(kGiB) == 1);
  CHECK(node.going() == Names{"pod-2"});
  for (int i = 0; i < 10; ++i) CHECK(node.round(kGiB) == 0);
  CHECK(node.evictions_asked() == 2);
  node.manual.advance(10s);  // the wait for the server's answer
  node.publish();
  CHECK(node.round(2 * kGiB) == 1);
  CHECK(node.evictions_asked() == 3);
  CHECK(node.count(decision::Outcome::refused) == 2);
  CHECK(node.reported == Names{"pod-1", "pod-2"});
}

TEST_CASE("fault 18: 429 for ten minutes gives no kill and no second victim, and Retry-After is honoured") {
  for (config::EvictionTier tier : {config::EvictionTier::api, config::EvictionTier::runtime}) {
    NodeOfTwenty node(tier);
    node.cluster.fault("too_many_requests", R"({"verb":"create","kind":"Pod","retry_after":1})");
    node.pressure = tier == config::EvictionTier::api ? 99.0 : 19.9;  // not enough for the tier `runtime`
    std::size_t asked = 0;
    for (int seconds = 0; seconds < 600; ++seconds) {
      asked += node.round(kGiB);
      node.manual.advance(1s);
      node.publish();
    }
    CHECK(node.killed.empty());
    CHECK(node.going().empty());
    CHECK(asked > 1);
    CHECK(asked < 30);
    CHECK(node.evictions_asked() == asked);
    for (const decision::Decision& decision : node.decisions) CHECK(decision.pod_name == "pod-1");
    node.cluster.clear_faults();
    node.manual.advance(6min);
    node.publish();
    CHECK(node.round(kGiB) == 1);
    CHECK(node.going() == Names{"pod-1"});
  }
}

TEST_CASE("the tier runtime kills what the API server has refused once memory is very short, within the budget") {
  NodeOfTwenty node(config::EvictionTier::runtime);
  node.cluster.fault("error", R"({"verb":"create","kind":"Pod","code":503})");
  CHECK(node.round(kGiB) == 1);
  CHECK(node.killed.empty());  // the request was refused just now
  node.pressure = 20.0;
  CHECK(node.round(kGiB) == 0);
  CHECK(node.killed == Names{"pod-1"});
  CHECK(node.count(decision::Outcome::killed) == 1);
  for (int i = 0; i < 10; ++i) node.round(kGiB);
  CHECK(node.killed.size() == 1);  // it counts as released
  for (int gib = 2; gib <= 4; ++gib) node.round(gib * kGiB);
  CHECK(node.killed.size() == 4);
  CHECK(node.braked_until == std::nullopt);
}

TEST_CASE("the tier runtime kills no pod while the brake is on, even if evictions are refused") {
  NodeOfTwenty node(config::EvictionTier::runtime);
  node.put_budget("pod-1", 0);
  CHECK(node.round(kGiB) == 1);  // refused for at least ten seconds
  CHECK(node.round(1000 * kGiB) == 0);
  REQUIRE(node.braked_until);
  node.pressure = 99.0;
  for (int i = 0; i < 10; ++i) CHECK(node.round(kGiB) == 0);
  CHECK(node.killed.empty());
  CHECK(node.going().empty());
}

TEST_CASE("killed pods count as picked, too: more than the brake allows are never killed") {
  NodeOfTwenty node(config::EvictionTier::runtime, 100);
  node.cluster.fault("error", R"({"verb":"create","kind":"Pod","code":503})");
  CHECK(node.round(kGiB) == 1);
  node.pressure = 99.0;
  for (int gib = 1; gib <= 20; ++gib) node.round(gib * kGiB);
  CHECK(node.killed.size() == 6);  // 30 % of twenty
  CHECK(node.braked_until);
}

TEST_CASE("fault 18: a victim stuck Terminating yields no second victim for the same pressure") {
  NodeOfTwenty node;
  CHECK(node.round(kGiB) == 1);
  node.pods[0].deleting = true;
  for (int minutes = 0; minutes < 60; ++minutes) {
    node.manual.advance(1min);
    node.publish();
    CHECK(node.round(kGiB) == 0);
  }
  CHECK(node.going() == Names{"pod-1"});
  CHECK(node.count(decision::Outcome::evicted) == 1);
}
