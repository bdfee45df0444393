// SPDX-License-Identifier: Apache-2.0
// Evictions from a strategy's request to the API server's pods and Events, on a clock that the test moves.
#include "core/evict/evictions.hpp"

#include <algorithm>
#include <deque>

#include "core/base/manual_clock.hpp"
#include "core/evict/api_evictor.hpp"
#include "core/kube/object.hpp"
#include "pods.hpp"
#include "test/core/kube/cluster_client.hpp"

using namespace koord;
using namespace koord::evict;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr Duration kPodsOld = 2min;

config::EvictSettings limits(config::EvictionTier tier, std::uint64_t most_pods) {
  config::EvictSettings limits;
  limits.tier = tier;
  limits.most_pods = most_pods;
  limits.window = 5min;
  limits.brake_percent = 30;
  limits.brake_period = 30min;
  limits.pending_period = 2min;
  limits.runtime_pressure_percent = 20;
  return limits;
}

// A node of twenty best-effort pods, which are in the API server, too.
struct Node : ClusterClient {
  explicit Node(config::EvictionTier tier = config::EvictionTier::api, std::uint64_t most_pods = 5)
      : evictions({.clock = manual,
                   .hub = hub,
                   .mode = [this](const std::string&) { return mode; },
                   .usage = [this] { return use_of(*hub.current()); },
                   .ask = [this](Order order) { orders.push_back(std::move(order)); },
                   .record = [this](knob::Decision decision) { decisions.push_back(std::move(decision)); },
                   .on_outcome =
                       [this](const Outcome& outcome) {
                         told.push_back(outcome.order.pod.name);
                         api.tell(outcome);
                       },
                   .on_brake =
                       [this](Time until, const std::string& why) {
                         braked_until = until;
                         brake_why = why;
                       },
                   .memory_pressure = [this] { return pressure; },
                   .kill = [this](const state::Pod& pod) -> Result<void> {
                     killed.push_back(pod.name);
                     return {};
                   }},
                  {.limits = limits(tier, most_pods), .own_uid = {}, .pods_old = kPodsOld, .seed = 7}) {
    cluster.fault("graceful_deletion", R"({"on":true})");
    for (int number = 1; number <= 20; ++number) put(number);
    publish();
  }
  ~Node() {
    cluster.clear_faults();
    cluster.fault("graceful_deletion", R"({"on":false})");
    for (const state::Pod& pod : pods) cluster.remove("Pod", pod.name, "shop");
    for (const std::string& budget : budgets) cluster.remove("PodDisruptionBudget", budget, "shop");
  }

  void put(int number) {
    state::Pod pod = best_effort_pod(number);
    const std::string object = cluster.put(R"({"kind":"Pod","metadata":{"name":")" + pod.name + R"(","namespace":"shop","labels":{"app":")" +
                                           pod.name + R"("}},"spec":{"nodeName":"test-node"}})");
    pod.uid = kube::parse_object(object)->uid;
    pods.push_back(std::move(pod));
  }
  void put_budget(const std::string& pod, int allowed) {
    budgets.push_back(pod);
    cluster.put(R"({"kind":"PodDisruptionBudget","metadata":{"name":")" + pod +
                R"(","namespace":"shop"},"spec":{"selector":{"matchLabels":{"app":")" + pod +
                R"("}}},"status":{"disruptionsAllowed":)" + std::to_string(allowed) + "}}");
  }
  // As a list of the kubelet would have it now.
  void publish() {
    state::Update update;
    update.pods = pods;
    hub.publish(std::move(update));
    hub.confirm(state::kPods, manual.now());
  }
  // What the strategy asks for; the pods in their order of numbers.
  void request(std::int64_t amount) {
    std::vector<std::uint64_t> handles;
    for (const state::Pod& wanted : pods)
      for (const state::Pod& pod : hub.current()->pods)
        if (pod.uid == wanted.uid) handles.push_back(pod.handle);
    evictions.take({"qos-memory-evict", "memory", 1}, {release_memory(amount, handles)});
  }
  // Lets the API server answer what was asked; how many that were.
  std::size_t answer() {
    const std::size_t asked = orders.size();
    while (!orders.empty()) {
      const Order order = std::move(orders.front());
      orders.pop_front();
      api.ask(order, [this](const std::string& uid, const Result<kube::EvictionAnswer>& answer) { evictions.answered(uid, answer); });
      REQUIRE(until([&] { return api.waiting() == 0; }));
    }
    return asked;
  }
  std::size_t round(std::int64_t amount) {
    request(amount);
    return answer();
  }
  bool is_going(const std::string& pod) {
    const auto object = cluster.get("Pod", pod, "shop");
    return !object || object->find("deletionTimestamp") != std::string::npos;
  }
  std::vector<std::string> going() {
    std::vector<std::string> names;
    for (const state::Pod& pod : pods)
      if (is_going(pod.name)) names.push_back(pod.name);
    return names;
  }
  std::size_t count(knob::Outcome outcome) const {
    return static_cast<std::size_t>(std::count_if(decisions.begin(), decisions.end(), [&](const auto& d) { return d.outcome == outcome; }));
  }
  std::size_t evictions_asked() {
    return cluster.requests(R"({"verb":"create","subresource":"eviction","after":)" + std::to_string(begin) + "}").size();
  }
  bool has_event(const std::string& pod, const std::string& reason) {
    const std::string list = cluster.command("list", R"({"kind":"Event"})");
    for (std::size_t at = list.find("\"" + pod + "."); at != std::string::npos; at = list.find("\"" + pod + ".", at + 1))
      if (list.substr(at, 2000).find(reason) != std::string::npos) return true;
    return false;
  }

  const std::int64_t begin = [this] {
    const auto all = cluster.requests();
    return all.empty() ? -1 : all.back().index;
  }();
  ManualClock manual;
  state::Hub hub;
  std::vector<state::Pod> pods;
  std::vector<std::string> budgets;
  knob::Mode mode = knob::Mode::enforce;
  std::optional<double> pressure;
  std::vector<std::string> killed, told;
  std::deque<Order> orders;
  std::vector<knob::Decision> decisions;
  std::optional<Time> braked_until;
  std::string brake_why;
  ApiEvictor api{loop, clock, client, {.source = {"koordetector", "test-node"}}};
  Evictions evictions;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("pods end through the API server, with a record and an Event each, until enough is released") {
  Node node;
  CHECK(node.round(2 * kGiB) == 2);
  CHECK(node.going() == Names{"pod-1", "pod-2"});
  REQUIRE(node.count(knob::Outcome::evicted) == 2);
  CHECK(node.count(knob::Outcome::asked) == 2);
  const knob::Decision& first = *std::find_if(node.decisions.begin(), node.decisions.end(),
                                              [](const auto& d) { return d.outcome == knob::Outcome::evicted; });
  CHECK(first.pod_name == "pod-1");
  CHECK(first.plugin == "qos-memory-evict");
  CHECK(first.reason == "the node is short of memory");
  CHECK(first.inputs == decltype(first.inputs){{"feature", "BEMemoryEvict"}, {"missing_memory", "2.00 GiB"}, {"releases_memory", "1.00 GiB"}});
  CHECK(node.until([&] { return node.has_event("pod-1", "evictPodSuccess") && node.has_event("pod-2", "evictPodSuccess"); }));
  CHECK(node.round(2 * kGiB) == 0);
}

TEST_CASE("in shadow nobody is asked, and what would have been is told once") {
  Node node;
  node.mode = knob::Mode::shadow;
  for (int i = 0; i < 10; ++i) CHECK(node.round(2 * kGiB) == 0);
  CHECK(node.evictions_asked() == 0);
  CHECK(node.count(knob::Outcome::shadow) == 2);
  CHECK(node.going().empty());
}

TEST_CASE("a strategy that is off asks in vain") {
  Node node;
  node.mode = knob::Mode::off;
  CHECK(node.round(2 * kGiB) == 0);
  CHECK(node.decisions.empty());
}

TEST_CASE("a disruption budget is respected: its pod stays, the next one goes, and it is not asked for again and again") {
  Node node;
  node.put_budget("pod-1", 0);
  CHECK(node.round(kGiB) == 1);
  CHECK(node.going().empty());
  CHECK(node.count(knob::Outcome::refused) == 1);
  CHECK(node.decisions.back().problem == "over budget: 429 TooManyRequests: The disruption budget pod-1 has no disruption left");
  CHECK(node.round(kGiB) == 1);
  CHECK(node.going() == Names{"pod-2"});
  for (int i = 0; i < 10; ++i) CHECK(node.round(kGiB) == 0);
  CHECK(node.evictions_asked() == 2);
  node.manual.advance(10s);  // as the server has said
  node.publish();
  CHECK(node.round(2 * kGiB) == 1);
  CHECK(node.evictions_asked() == 3);
  CHECK(node.count(knob::Outcome::refused) == 2);
  CHECK(node.told == Names{"pod-1", "pod-2"});
}

TEST_CASE("fault 18: 429 for ten minutes gives no kill and no second victim, and Retry-After is honoured") {
  for (config::EvictionTier tier : {config::EvictionTier::api, config::EvictionTier::runtime}) {
    Node node(tier);
    node.cluster.fault("too_many_requests", R"({"verb":"create","kind":"Pod","retry_after":1})");
    node.pressure = tier == config::EvictionTier::api ? 99.0 : 19.9;  // of the tier runtime: not enough
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
    for (const knob::Decision& decision : node.decisions) CHECK(decision.pod_name == "pod-1");
    node.cluster.clear_faults();
    node.manual.advance(6min);
    node.publish();
    CHECK(node.round(kGiB) == 1);
    CHECK(node.going() == Names{"pod-1"});
  }
}

TEST_CASE("the tier runtime kills what the API server has refused once memory is very short, within the budget") {
  Node node(config::EvictionTier::runtime);
  node.cluster.fault("error", R"({"verb":"create","kind":"Pod","code":503})");
  CHECK(node.round(kGiB) == 1);
  CHECK(node.killed.empty());  // refused just now
  node.pressure = 20.0;
  CHECK(node.round(kGiB) == 0);
  CHECK(node.killed == Names{"pod-1"});
  CHECK(node.count(knob::Outcome::killed) == 1);
  for (int i = 0; i < 10; ++i) node.round(kGiB);
  CHECK(node.killed.size() == 1);  // it counts as released
  for (int gib = 2; gib <= 4; ++gib) node.round(gib * kGiB);
  CHECK(node.killed.size() == 4);
  CHECK(node.braked_until == std::nullopt);
}

TEST_CASE("the tier runtime kills nobody while the brake holds, whatever is refused") {
  Node node(config::EvictionTier::runtime);
  node.put_budget("pod-1", 0);
  CHECK(node.round(kGiB) == 1);  // refused, for ten seconds at least
  CHECK(node.round(1000 * kGiB) == 0);
  REQUIRE(node.braked_until);
  node.pressure = 99.0;
  for (int i = 0; i < 10; ++i) CHECK(node.round(kGiB) == 0);
  CHECK(node.killed.empty());
  CHECK(node.going().empty());
}

TEST_CASE("who is killed is picked, too: more than the brake lets go are never killed") {
  Node node(config::EvictionTier::runtime, 100);
  node.cluster.fault("error", R"({"verb":"create","kind":"Pod","code":503})");
  CHECK(node.round(kGiB) == 1);
  node.pressure = 99.0;
  for (int gib = 1; gib <= 20; ++gib) node.round(gib * kGiB);
  CHECK(node.killed.size() == 6);  // 30 % of twenty
  CHECK(node.braked_until);
}

TEST_CASE("fault 18: a victim stuck Terminating yields no second victim for the same pressure") {
  Node node;
  CHECK(node.round(kGiB) == 1);
  node.pods[0].deleting = true;
  for (int minutes = 0; minutes < 60; ++minutes) {
    node.manual.advance(1min);
    node.publish();
    CHECK(node.round(kGiB) == 0);
  }
  CHECK(node.going() == Names{"pod-1"});
  CHECK(node.count(knob::Outcome::evicted) == 1);
}

TEST_CASE("who went before the agent began anew counts for the budget, until the window is over") {
  Node node;
  std::vector<knob::Decision> gone(5);
  for (std::size_t i = 0; i < gone.size(); ++i) {
    gone[i].outcome = i % 2 == 0 ? knob::Outcome::evicted : knob::Outcome::killed;
    gone[i].pod_uid = "gone-" + std::to_string(i);
    gone[i].wall_ns = node.manual.wall_ns() - std::chrono::nanoseconds(1min).count();
  }
  gone.back().wall_ns = node.manual.wall_ns() + std::chrono::nanoseconds(1h).count();  // the wall clock was set back
  node.evictions.remember(gone);
  CHECK(node.round(kGiB) == 0);
  CHECK(node.count(knob::Outcome::budget) == 1);
  node.manual.advance(4min);
  node.publish();
  CHECK(node.round(kGiB) == 1);
}

TEST_CASE("fault 19: a wrong metric that picks every pod trips the brake, and nobody goes") {
  Node node;
  CHECK(node.round(1000 * kGiB) == 0);
  CHECK(node.evictions_asked() == 0);
  CHECK(node.count(knob::Outcome::brake) == 20);
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
  Node node;
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

TEST_CASE("fault 16: pods of which nobody has heard for a while are not evicted") {
  Node node;
  node.manual.advance(kPodsOld + 1s);
  CHECK(node.round(kGiB) == 0);
  CHECK(node.count(knob::Outcome::unknown) == 1);
  CHECK(node.decisions.back().problem == "what pods there are was last heard 121 s ago");
  node.publish();
  CHECK(node.round(kGiB) == 1);
}

TEST_CASE("a pod that was made anew under its name is left alone") {
  Node node;
  node.cluster.remove("Pod", "pod-1", "shop");
  node.cluster.put(R"({"kind":"Pod","metadata":{"name":"pod-1","namespace":"shop"},"spec":{"nodeName":"test-node"}})");
  CHECK(node.round(kGiB) == 1);
  CHECK(node.count(knob::Outcome::gone) == 1);
  CHECK(node.going().empty());
}

TEST_CASE("an answer that does not come is given up, and the server is left alone for a while") {
  Node node;
  node.cluster.fault("hang", R"({"verb":"create","kind":"Pod"})");
  ApiEvictor impatient(node.loop, node.clock, node.client, {.source = {"koordetector", "test-node"}, .patience = 2s});
  node.request(kGiB);
  REQUIRE(node.orders.size() == 1);
  impatient.ask(node.orders.front(), [&](const std::string& uid, const auto& answer) { node.evictions.answered(uid, answer); });
  node.orders.clear();
  CHECK(node.until([&] { return node.count(knob::Outcome::unanswered) == 1; }));
  CHECK(node.decisions.back().problem == "unanswered: no answer to the eviction within 2 s");
  CHECK_FALSE(node.evictions.view().quiet.empty());
  CHECK(node.round(kGiB) == 0);
}

TEST_CASE("a server that evicts and never answers: five pods go in five minutes, then the brake holds") {
  Node node;
  node.cluster.fault("graceful_deletion", R"({"on":false})");
  node.cluster.fault("mute", R"({"verb":"create","kind":"Pod"})");
  ApiEvictor impatient(node.loop, node.clock, node.client, {.source = {"koordetector", "test-node"}, .patience = 3s});
  for (int tens = 0; tens < 30; ++tens) {
    node.request(5 * kGiB);  // the need stays, whatever goes
    for (const Order& order : std::exchange(node.orders, {}))
      impatient.ask(order, [&](const std::string& uid, const auto& answer) { node.evictions.answered(uid, answer); });
    REQUIRE(node.until([&] { return impatient.waiting() == 0; }));
    node.manual.advance(10s);
    std::erase_if(node.pods, [&](const state::Pod& pod) { return !node.cluster.get("Pod", pod.name, "shop"); });
    node.publish();
  }
  CHECK(node.pods.size() == 15);
  CHECK(node.evictions_asked() == 5);
  CHECK(node.count(knob::Outcome::unanswered) == 5);
  REQUIRE(node.braked_until);
  CHECK(node.brake_why == "the API server did not answer 5 evictions within evict.window");
  CHECK(node.count(knob::Outcome::brake) > 0);
}

TEST_CASE("an eviction whose connection is refused takes nothing of the budget") {
  Node node(config::EvictionTier::api, 1);
  node.cluster.fault("down");
  CHECK(node.round(kGiB) == 1);
  CHECK(node.count(knob::Outcome::refused) == 1);
  CHECK(node.decisions.back().problem.starts_with("not sent: "));
  CHECK(node.evictions.view().going == 0);
  node.cluster.clear_faults();
  node.manual.advance(20s);
  node.publish();
  CHECK(node.round(kGiB) == 1);
  CHECK(node.going() == Names{"pod-1"});
}

TEST_CASE("an eviction that was in flight when the agent died counts for the budget, one that was refused does not") {
  Node node(config::EvictionTier::api, 2);
  const auto record = [&](const char* uid, knob::Outcome outcome) {
    knob::Decision decision;
    decision.pod_uid = uid;
    decision.outcome = outcome;
    decision.wall_ns = node.manual.wall_ns();
    return decision;
  };
  SUBCASE("in flight, and without an answer") {
    node.evictions.remember({record("a", knob::Outcome::asked), record("b", knob::Outcome::asked), record("b", knob::Outcome::unanswered),
                             record("b", knob::Outcome::refused)});  // refused later: it was not even asked for
    CHECK(node.round(kGiB) == 0);
    CHECK(node.count(knob::Outcome::budget) == 1);
  }
  SUBCASE("refused") {
    node.evictions.remember({record("a", knob::Outcome::asked), record("b", knob::Outcome::asked), record("b", knob::Outcome::refused)});
    CHECK(node.round(kGiB) == 1);
  }
}
