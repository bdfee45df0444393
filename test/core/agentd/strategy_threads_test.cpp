// SPDX-License-Identifier: Apache-2.0
// StrategyWatch, called by the loop, a source of pods and a strategy, each on its own thread.
#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "core/agentd/strategy_watch.hpp"
#include "test/core/agentd/node_services.hpp"
#include "test/support/made_intent.hpp"

using namespace koord;
using namespace koord::agentd;
using namespace std::chrono_literals;

namespace {

constexpr const char* kDir = "kube/podu1";
constexpr int kRounds = 100;

std::vector<state::Pod> pods_that_say(const std::string& hands_off) {
  state::Pod pod;
  pod.uid = "u1";
  pod.namespace_ = "shop";
  pod.name = "web";
  pod.cgroup_dir = kDir;
  pod.annotations = {{std::string(decision::kHandsOffAnnotation), hands_off}};
  return {pod};
}

knob::Plan quota(int round) {
  knob::Intent intent = test::made_intent("cpu.max", std::to_string(20000 + round) + " 100000");
  intent.level = decision::Level::pod;
  intent.cgroup_dir = kDir;
  intent.reason = "the node is busy";
  intent.ttl = 1min;
  return {intent};
}

std::vector<host::PluginStatus> one_strategy() {
  host::PluginStatus burst;
  burst.id = "burst";
  return {burst};
}

struct Node : NodeServices {
  Node() : NodeServices({{"cgroup/kube/podu1/cpu.max", "50000 100000\n"}}, one_strategy) {}

  void propose(int round) {
    governor.take({"burst", "main"}, quota(round), [](auto) {});
  }
  void publish(const std::string& hands_off) { hub.publish({.pods = pods_that_say(hands_off)}); }
  // Runs the loop until the condition holds or a long time limit ends.
  bool runs_until(const std::function<bool()>& is_so) {
    const auto poll = loop.every(1ms, [&] {
      if (is_so()) loop.stop();
    });
    const auto give_up = loop.after(2min, [this] { loop.stop(); });
    loop.run();
    return is_so();
  }

  std::optional<StrategyWatch> watch{std::in_place, services, "test-node"};
};

}  // namespace

TEST_CASE_FIXTURE(Node, "pods set hands off while a strategy proposes: reverts are reported on the loop") {
  governor.set_node_mode(koord::Mode::enforce);
  watch->start();
  std::atomic<bool> done = false;
  std::thread source([&] {
    for (int round = 0; round < kRounds; ++round) publish(round % 2 == 0 ? "true" : "");
    while (!done) publish("cpu.max"), publish("");
  });
  std::thread strategy([&] {
    for (int round = 0; !done; ++round) propose(round % kRounds);
  });
  const bool reported = runs_until([this] { return !events.events().empty(); });
  done = true;
  source.join();
  strategy.join();
  REQUIRE(reported);
  CHECK(events.events()[0].what == "reverted knobs set by burst: cpu.max");
  CHECK(events.events()[0].why.find("hands-off") != std::string::npos);
}

TEST_CASE_FIXTURE(Node, "reverts after its end are not reported") {
  governor.set_node_mode(koord::Mode::enforce);
  publish("");
  watch->start();
  propose(1);
  REQUIRE(governor.held() == 1);
  watch.reset();
  std::thread([this] { governor.withdraw({"burst", "main"}); }).join();
  bool is_posted = false;
  loop.post([&] { is_posted = true; });
  REQUIRE(runs_until([&] { return is_posted; }));
  CHECK(events.events().empty());
}
