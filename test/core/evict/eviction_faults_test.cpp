// SPDX-License-Identifier: Apache-2.0
// Evictions during other failures: a restart, wrong numbers, a server that is down or does not answer.
#include "node_of_twenty.hpp"

using namespace koord;
using namespace koord::evict;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("pods evicted before the agent's restart count for the budget, until the window is over") {
  NodeOfTwenty node;
  std::vector<decision::Decision> gone(5);
  for (std::size_t i = 0; i < gone.size(); ++i) {
    gone[i].outcome = i % 2 == 0 ? decision::Outcome::evicted : decision::Outcome::killed;
    gone[i].pod_uid = "gone-" + std::to_string(i);
    gone[i].time = node.manual.now() - 1min;
  }
  gone.back().time = node.manual.now() + 1h;  // host time restarted with a boot, and the wall clock was set back
  node.evictions.remember(gone);
  CHECK(node.round(kGiB) == 0);
  CHECK(node.count(decision::Outcome::budget) == 1);
  node.manual.advance(4min);
  node.publish();
  CHECK(node.round(kGiB) == 1);
}

TEST_CASE("fault 19: a wrong metric that picks every pod trips the brake, and no pod is evicted") {
  NodeOfTwenty node;
  CHECK(node.round(1000 * kGiB) == 0);
  CHECK(node.evictions_asked() == 0);
  CHECK(node.count(decision::Outcome::brake) == 20);
  REQUIRE(node.braked_until);
  CHECK(*node.braked_until == node.manual.now() + 30min);
  CHECK(node.evictions.view().brake_until == node.braked_until);
  for (int minutes = 0; minutes < 29; ++minutes) {
    node.manual.advance(1min);
    node.publish();
    CHECK(node.round(kGiB) == 0);
  }
  node.manual.advance(1min);
  node.publish();
  CHECK(node.round(kGiB) == 1);
}

TEST_CASE("fault 17: an API server that was away for two hours gets one request when it is back, not a backlog") {
  NodeOfTwenty node;
  node.cluster.fault("down");
  std::size_t asked = 0;
  for (int tens = 0; tens < 720; ++tens) {
    asked += node.round((1 + tens % 4) * kGiB);
    node.manual.advance(10s);
    node.publish();
  }
  CHECK(asked < 200);
  node.cluster.clear_faults();
  node.manual.advance(6min);
  node.publish();
  CHECK(node.round(kGiB) == 1);
  CHECK(node.going() == Names{"pod-1"});
}

TEST_CASE("fault 16: pods that were not confirmed for a while are not evicted") {
  NodeOfTwenty node;
  node.manual.advance(kPodsOld + 1s);
  CHECK(node.round(kGiB) == 0);
  CHECK(node.count(decision::Outcome::unknown) == 1);
  CHECK(node.decisions.back().problem == "the pods were last confirmed 121 s ago");
  node.publish();
  CHECK(node.round(kGiB) == 1);
}

TEST_CASE("a pod that was created again under its name is left alone") {
  NodeOfTwenty node;
  node.cluster.remove("Pod", "pod-1", "shop");
  node.cluster.put(R"({"kind":"Pod","metadata":{"name":"pod-1","namespace":"shop"},"spec":{"nodeName":"test-node"}})");
  CHECK(node.round(kGiB) == 1);
  CHECK(node.count(decision::Outcome::gone) == 1);
  CHECK(node.going().empty());
}

TEST_CASE("a missing answer is given up, and the server gets no request for some time") {
  NodeOfTwenty node;
  node.cluster.fault("hang", R"({"verb":"create","kind":"Pod"})");
  ApiEvictor impatient(node.loop, node.clock, node.client, {.source = {"koordetector", "test-node"}, .patience = 2s});
  node.request(kGiB);
  REQUIRE(node.orders.size() == 1);
  impatient.ask(node.orders.front(),
                [&](const std::string& uid, const auto& answer) { node.evictions.answered(uid, answer); });
  node.orders.clear();
  CHECK(node.until([&] { return node.count(decision::Outcome::unanswered) == 1; }));
  CHECK(node.decisions.back().problem == "unanswered: no answer to the eviction within 2 s");
  CHECK_FALSE(node.evictions.view().quiet.empty());
  CHECK(node.round(kGiB) == 0);
}

TEST_CASE("a server that evicts and never answers: five pods go in five minutes, then the brake holds") {
  NodeOfTwenty node;
  node.cluster.fault("graceful_deletion", R"({"on":false})");
  node.cluster.fault("mute", R"({"verb":"create","kind":"Pod"})");
  ApiEvictor impatient(node.loop, node.clock, node.client, {.source = {"koordetector", "test-node"}, .patience = 3s});
  for (int tens = 0; tens < 30; ++tens) {
    node.request(5 * kGiB);  // the need stays after each eviction
    for (const Order& order : std::exchange(node.orders, {}))
      impatient.ask(order, [&](const std::string& uid, const auto& answer) { node.evictions.answered(uid, answer); });
    REQUIRE(node.until([&] { return impatient.waiting() == 0; }));
    node.manual.advance(10s);
    std::erase_if(node.pods, [&](const state::Pod& pod) { return !node.cluster.get("Pod", pod.name, "shop"); });
    node.publish();
  }
  CHECK(node.pods.size() == 15);
  CHECK(node.evictions_asked() == 5);
  CHECK(node.count(decision::Outcome::unanswered) == 5);
  REQUIRE(node.braked_until);
  CHECK(node.brake_why == "the API server did not answer 5 evictions within evict.window");
  CHECK(node.count(decision::Outcome::brake) > 0);
}

TEST_CASE("an eviction with a refused connection takes nothing of the budget") {
  NodeOfTwenty node(config::EvictionTier::api, 1);
  node.cluster.fault("down");
  CHECK(node.round(kGiB) == 1);
  CHECK(node.count(decision::Outcome::refused) == 1);
  CHECK(node.decisions.back().problem.starts_with("not sent: "));
  CHECK(node.evictions.view().going == 0);
  node.cluster.clear_faults();
  node.manual.advance(20s);
  node.publish();
  CHECK(node.round(kGiB) == 1);
  CHECK(node.going() == Names{"pod-1"});
}

TEST_CASE("an eviction that was in flight when the agent died counts for the budget, one that was refused does not") {
  NodeOfTwenty node(config::EvictionTier::api, 2);
  const auto record = [&](const char* uid, decision::Outcome outcome) {
    decision::Decision decision;
    decision.pod_uid = uid;
    decision.outcome = outcome;
    decision.time = node.manual.now();
    return decision;
  };
  SUBCASE("in flight, and without an answer") {
    node.evictions.remember({record("a", decision::Outcome::asked), record("b", decision::Outcome::asked),
                             record("b", decision::Outcome::unanswered),
                             record("b", decision::Outcome::refused)});  // refused later, because it was never
                                                                         // requested
    CHECK(node.round(kGiB) == 0);
    CHECK(node.count(decision::Outcome::budget) == 1);
  }
  SUBCASE("refused") {
    node.evictions.remember({record("a", decision::Outcome::asked), record("b", decision::Outcome::asked),
                             record("b", decision::Outcome::refused)});
    CHECK(node.round(kGiB) == 1);
  }
}

TEST_CASE("a wall clock that is set, also between two runs of the agent, gives no new budget and ends no brake") {
  for (const Duration step : {Duration(1h), Duration(-1h), Duration(24h * 3652), Duration(-24h * 3652)}) {
    CAPTURE(step.count());
    NodeOfTwenty node(config::EvictionTier::api, 1);
    decision::Decision before;
    before.outcome = decision::Outcome::evicted;
    before.pod_uid = "gone";
    before.time = node.manual.now();
    before.wall_ns = node.manual.wall_ns();
    node.manual.step_wall(step);
    node.evictions.remember({before});
    CHECK(node.round(kGiB) == 0);
    CHECK(node.count(decision::Outcome::budget) == 1);
    CHECK(node.round(1000 * kGiB) == 0);
    REQUIRE(node.evictions.view().brake_until == node.manual.now() + 30min);
    node.manual.step_wall(-2 * step);
    node.manual.advance(29min);
    node.publish();
    CHECK(node.round(kGiB) == 0);
    node.manual.advance(1min);
    node.publish();
    CHECK(node.round(kGiB) == 1);
  }
}
