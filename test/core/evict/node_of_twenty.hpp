// SPDX-License-Identifier: Apache-2.0
// A node with twenty best-effort pods, an API server with the same pods, and the evictions of strategies. The test
// moves the clock.
#pragma once

#include <algorithm>
#include <deque>
#include "core/base/manual_clock.hpp"
#include "core/evict/api_evictor.hpp"
#include "core/kube/object.hpp"
#include "pods.hpp"
#include "test/core/kube/cluster_client.hpp"

namespace koord::test {

using namespace koord::evict;
using namespace std::chrono_literals;

inline constexpr Duration kPodsOld = 2min;

inline config::EvictSettings eviction_limits(config::EvictionTier tier, std::uint64_t most_pods) {
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

// A node with twenty best-effort pods, which the API server has, too.
struct NodeOfTwenty : ClusterClient {
  explicit NodeOfTwenty(config::EvictionTier tier = config::EvictionTier::api, std::uint64_t most_pods = 5)
      : evictions(
            {.clock = manual,
             .hub = hub,
             .mode = [this](const std::string&) { return mode; },
             .usage = [this] { return use_of(*hub.current()); },
             .ask = [this](Order order) { orders.push_back(std::move(order)); },
             .record = [this](decision::Decision decision) { decisions.push_back(std::move(decision)); },
             .on_outcome =
                 [this](const Outcome& outcome) {
                   reported.push_back(outcome.order.pod.name);
                   api.record(outcome);
                 },
             .on_brake =
                 [this](Time until, const std::string& why) {
                   braked_until = until;
                   brake_why = why;
                 },
             .on_held_back =
                 [this](const Outcome& outcome) { held_back.push_back(outcome.order.pod.name + ": " + outcome.why); },
             .memory_pressure = [this] { return pressure; },
             .kill = [this](const state::Pod& pod) -> Result<void> {
               killed.push_back(pod.name);
               return {};
             }},
            {.limits = eviction_limits(tier, most_pods), .own_uid = {}, .pods_old = kPodsOld, .seed = 7}) {
    cluster.fault("graceful_deletion", R"({"on":true})");
    for (int number = 1; number <= 20; ++number) put(number);
    publish();
  }
  ~NodeOfTwenty() {
    cluster.clear_faults();
    cluster.fault("graceful_deletion", R"({"on":false})");
    for (const state::Pod& pod : pods) cluster.remove("Pod", pod.name, "shop");
    for (const std::string& budget : budgets) cluster.remove("PodDisruptionBudget", budget, "shop");
  }

  void put(int number) {
    state::Pod pod = best_effort_pod(number);
    const std::string object =
        cluster.put(R"({"kind":"Pod","metadata":{"name":")" + pod.name + R"(","namespace":"shop","labels":{"app":")" +
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
  // Publishes the pods as in a kubelet's list of this time.
  void publish() {
    state::Update update;
    update.pods = pods;
    hub.publish(std::move(update));
    hub.confirm(state::kPods, manual.now());
  }
  // Sends a request of the strategy, with the pods in the order of their numbers.
  void request(std::int64_t amount) {
    std::vector<std::uint64_t> handles;
    const auto now = hub.current();
    for (const state::Pod& wanted : pods)
      for (const state::Pod& pod : now->pods)
        if (pod.uid == wanted.uid) handles.push_back(pod.handle);
    evictions.take({"qos-memory-evict", "memory", 1}, {release_memory(amount, handles)});
  }
  // Lets the API server answer the open requests. Returns their number.
  std::size_t answer() {
    const std::size_t asked = orders.size();
    while (!orders.empty()) {
      const Order order = std::move(orders.front());
      orders.pop_front();
      api.ask(order, [this](const std::string& uid, const Result<kube::EvictionAnswer>& answer) {
        evictions.answered(uid, answer);
      });
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
  std::size_t count(decision::Outcome outcome) const {
    return static_cast<std::size_t>(
        std::count_if(decisions.begin(), decisions.end(), [&](const auto& d) { return d.outcome == outcome; }));
  }
  std::size_t evictions_asked() {
    return cluster.requests(R"({"verb":"create","subresource":"eviction","after":)" + std::to_string(begin) + "}")
        .size();
  }
  bool has_event(const std::string& pod, const std::string& reason) {
    const std::string list = cluster.command("list", R"({"kind":"Event"})");
    for (std::size_t at = list.find("\"" + pod + "."); at != std::string::npos;
         at = list.find("\"" + pod + ".", at + 1))
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
  koord::Mode mode = koord::Mode::enforce;
  std::optional<double> pressure;
  std::vector<std::string> killed, reported, held_back;
  std::deque<Order> orders;
  std::vector<decision::Decision> decisions;
  std::optional<Time> braked_until;
  std::string brake_why;
  ApiEvictor api{loop, clock, client, {.source = {"koordetector", "test-node"}}};
  Evictions evictions;
};

}  // namespace koord::test
