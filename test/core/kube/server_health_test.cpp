// SPDX-License-Identifier: Apache-2.0
// Collections that wait for a server, and a real server that goes down and comes up again.
#include "core/kube/server_health.hpp"

#include <algorithm>
#include <memory>

#include "cluster_client.hpp"
#include "core/base/manual_clock.hpp"
#include "core/kube/list_watch.hpp"

using namespace koord;
using namespace koord::kube;
using namespace koord::test;
using namespace std::chrono_literals;
using Wake = ServerHealth::Wake;

namespace {

// Members that record their wake-ups in order.
struct Waiting : LoopHere {
  explicit Waiting(ServerHealth::Options options = {.first = 1ms, .longest = 2ms}) : health(loop, clock, options, 7) {
    for (int i = 0; i < 3; ++i)
      members.push_back(
          std::make_unique<ServerHealth::Member>(health, [this, i](Wake why) { woken.emplace_back(i, why); }));
  }
  std::size_t count(Wake why) const {
    return static_cast<std::size_t>(
        std::count_if(woken.begin(), woken.end(), [&](const auto& one) { return one.second == why; }));
  }

  ManualClock clock;
  ServerHealth health;
  std::vector<std::unique_ptr<ServerHealth::Member>> members;
  std::vector<std::pair<int, Wake>> woken;
};

std::string path_of(const char* resource) { return std::string("/api/v1/namespaces/shop/") + resource; }

// Four kinds as an agent follows them, with the agent's waits.
struct FourKinds : ClusterClient {
  FourKinds() {
    for (const std::string& path :
         {std::string("/api/v1/nodes"), std::string("/apis/slo.koordinator.sh/v1alpha1/nodeslos"),
          path_of("configmaps"), path_of("persistentvolumeclaims")})
      follow(path);
    REQUIRE(all_current());
    REQUIRE(until([&] { return open_watches() == 4; }));
  }
  ~FourKinds() { cluster.clear_faults(); }

  void follow(const std::string& path) {
    const std::size_t index = kinds.size();
    states.push_back(Health::State::starting);
    kinds.push_back(std::make_unique<ListWatch>(
        loop, workers, clock, client, Collection{path, "metadata.name=server-health-test", "", 500, false},
        ListWatchOptions{},
        ListWatchHandlers{.on_objects = {},
                          .on_health = [this, index](const Health& health) { states[index] = health.state; },
                          .on_confirmed = {}}));
  }
  bool all_are(Health::State state) {
    return until([&] { return std::count(states.begin(), states.end(), state) == 4; }, 120s);
  }
  bool all_current() { return all_are(Health::State::current); }
  std::size_t open_watches() {
    return cluster.requests(R"({"verb":"watch","open":true,"status":200,"path":"server-health-test"})").size();
  }
  // Returns how often each kind has failed, in total.
  std::uint64_t failures() const {
    std::uint64_t sum = 0;
    for (const auto& kind : kinds) sum += kind->health().failures;
    return sum;
  }

  std::vector<Health::State> states;
  std::vector<std::unique_ptr<ListWatch>> kinds;
};

}  // namespace

TEST_CASE("while no watch is open one waiting collection after the other probes the server") {
  Waiting waiting;
  for (const auto& member : waiting.members) member->wait({});
  CHECK(waiting.health.away());
  const auto fail_again = [&] {
    if (!waiting.woken.empty()) waiting.members[static_cast<std::size_t>(waiting.woken.back().first)]->wait({});
    return waiting.woken.size() >= 6;
  };
  REQUIRE(waiting.until(fail_again));
  CHECK(waiting.count(Wake::answered) == 0);
  for (std::size_t i = 0; i < 3; ++i) CHECK(waiting.woken[i].first == waiting.woken[i + 3].first);
  CHECK(waiting.woken[0].first != waiting.woken[1].first);
}

TEST_CASE("a success of one collection wakes all others") {
  Waiting waiting({.first = 1h, .longest = 1h});
  waiting.members[1]->wait({});
  waiting.members[2]->wait({});
  waiting.members[0]->succeeded();
  CHECK(std::count(waiting.woken.begin(), waiting.woken.end(), std::pair(1, Wake::answered)) == 1);
  CHECK(std::count(waiting.woken.begin(), waiting.woken.end(), std::pair(2, Wake::answered)) == 1);
  CHECK_FALSE(waiting.health.away());
}

TEST_CASE("a collection that fails while another one has a watch is no reason to probe") {
  Waiting waiting;
  waiting.members[0]->watch_opened();
  waiting.woken.clear();
  waiting.members[1]->wait({});
  CHECK_FALSE(waiting.health.away());
  waiting.members[0]->watch_closed();
  CHECK(waiting.health.away());
  waiting.members[0].reset();
  waiting.members[2]->wait({});
  CHECK(waiting.until([&] { return !waiting.woken.empty(); }));
}

TEST_CASE("the collection that the server has asked to wait longest is not the one that probes") {
  Waiting waiting;
  waiting.members[0]->wait(waiting.clock.now() + 1h);
  waiting.members[1]->wait(waiting.clock.now() + 1ms);
  REQUIRE(waiting.until([&] { return !waiting.woken.empty(); }));
  CHECK(waiting.woken.front() == std::pair(1, Wake::probe));
}

TEST_CASE("after an API server was down all four watches are back five seconds after it answers again") {
  FourKinds four;
  for (int restarts = 0; restarts < 2; ++restarts) {
    const std::uint64_t before = four.failures();
    four.cluster.fault("down");
    REQUIRE(four.all_are(Health::State::failing));
    // Long enough for a back-off of each kind to exceed five seconds by far.
    REQUIRE(four.until([&] { return four.failures() >= before + 10; }, 120s));
    const std::int64_t last = four.cluster.requests().back().index;
    four.cluster.clear_faults();
    const Time up = four.clock.now();
    CHECK(four.all_current());
    CHECK(four.clock.now() - up < 7s);  // a probe within 5 s, jitter, and time for a slow machine
    CHECK(four.until([&] { return four.open_watches() == 4; }));
    CHECK(four.cluster
              .requests(R"({"verb":"watch","status":200,"path":"server-health-test","after":)" + std::to_string(last) +
                        "}")
              .size() == 4);
  }
}

TEST_CASE("a server that has just started and says 429 with Retry-After gets each kind again when it says so") {
  FourKinds four;
  four.cluster.fault(
      "error",
      R"({"code":429,"reason":"TooManyRequests","message":"storage is (re)initializing","retry_after":1,"path":"server-health-test"})");
  four.cluster.fault("disconnect", R"({"server":"api"})");
  REQUIRE(four.all_are(Health::State::failing));
  const std::uint64_t before = four.failures();
  REQUIRE(four.until([&] { return four.failures() >= before + 8; }, 60s));  // two failures of each kind, a second apart
  four.cluster.clear_faults();
  const Time up = four.clock.now();
  CHECK(four.all_current());
  CHECK(four.clock.now() - up < 5s);
}
