// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/verdict_watch.hpp"

#include <doctest/doctest.h>

#include "core/agentd/strategy_watch.hpp"
#include "test/core/agentd/cluster_services.hpp"
#include "test/core/verdict/records.hpp"

using namespace koord;
using namespace koord::agentd;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct Watching : ClusterServices {
  // Publishes these pods of the namespace shop.
  void publish(const std::vector<std::string>& names) {
    std::vector<state::Pod> pods;
    for (const std::string& name : names) {
      state::Pod pod;
      pod.uid = "uid-" + name;
      pod.namespace_ = "shop";
      pod.name = name;
      pods.push_back(pod);
    }
    hub.publish({.pods = pods});
  }
  std::uint64_t handle(std::size_t pod) const { return hub.current()->pods[pod].handle; }
  void post(std::size_t pod) {
    verdict::Record record = verdict_about(handle(pod));
    const std::string& name = hub.current()->pods[pod].name;
    record.victim.labels = {{"pod_uid", "uid-" + name}, {"pod_name", name}, {"pod_namespace", "shop"}};
    REQUIRE(verdicts.post(clock.now(), {"advisor-interference", verdict::Origin::own, 1}, {record}));
  }
  // Runs polls of the watch, one per second. The plugin posts its verdict again before each.
  void pass(int polls, std::size_t pod) {
    post(pod);
    int seen = 0;
    const auto count = loop.every(1s, [&] { ++seen; });
    CHECK(until([&] { return seen == polls; }));
  }
  // Returns the Event about the pod from the server; empty if no Event exists.
  std::string event(const std::string& pod) {
    const std::string list = cluster.command("list", R"({"kind":"Event"})");
    const auto at = list.find("\"name\": \"" + pod + ".");
    return at == std::string::npos ? "" : list.substr(at);
  }
  std::size_t written(const std::string& verb) {
    return cluster.requests(R"({"kind":"Event","verb":")" + verb + R"(","answered":true})").size();
  }

  StrategyWatch strategy_watch{services, "test-node"};
  VerdictWatch watch{services, [this](kube::EventInput event) { strategy_watch.record_event(std::move(event)); }};
};

}  // namespace

TEST_CASE_FIXTURE(Watching, "a verdict that has stood for a minute becomes one Event at its victim's pod") {
  publish({"cart"});
  watch.start();
  const std::size_t before = written("create");
  pass(2, 0);
  CHECK(written("create") == before);
  CHECK(event("cart").empty());

  clock.advance(60s);
  post(0);
  REQUIRE(until([&] { return !event("cart").empty(); }));
  const std::string written_event = event("cart");
  CHECK(holds(written_event, R"("reason": "Interfered")"));
  CHECK(holds(written_event, R"("type": "Warning")"));
  CHECK(holds(written_event, R"("uid": "uid-cart")"));
  CHECK(holds(written_event, "is held up on cpu for 1m"));

  clock.advance(9min);
  pass(2, 0);
  CHECK(written("create") == before + 1);
  CHECK(written("patch") == 0);
}

TEST_CASE_FIXTURE(Watching, "without the right to write Events a verdict still works") {
  publish({"web"});
  cluster.fault("deny", R"({"kind":"Event"})");
  watch.start();
  post(0);
  clock.advance(60s);
  pass(3, 0);
  CHECK(verdicts.standing()->records.size() == 1);
  CHECK(event("web").empty());
}
