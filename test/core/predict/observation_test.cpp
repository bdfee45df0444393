// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/base/manual_clock.hpp"
#include "core/predict/observation.hpp"
#include "core/store/store.hpp"

using namespace koord;
using namespace koord::predict;
using namespace std::chrono_literals;

namespace {

constexpr auto prod = state::PriorityClass::prod, mid = state::PriorityClass::mid, batch = state::PriorityClass::batch;

using Measured = std::map<std::string, Usage, std::less<>>;

state::Snapshot with_pods(std::initializer_list<std::pair<const char*, state::PriorityClass>> pods) {
  state::Snapshot state;
  state.versions.pods = 1;
  for (const auto& [uid, klass] : pods) {
    state.pods.emplace_back();
    state.pods.back().uid = uid;
    state.pods.back().priority_class = klass;
    state.pods.back().phase = state::Phase::running;
  }
  return state;
}

}  // namespace

TEST_CASE("classes are sums of their pods, system is what no pod uses of the node") {
  Observation found = observe(with_pods({{"a", prod}, {"b", prod}, {"c", batch}}), Usage{4, 100},
                              Measured{{"a", {1, 10}}, {"b", {0.5, 20}}, {"c", {1, 30}}});
  CHECK(found.classes.at(prod) == Usage{1.5, 30});
  CHECK(found.classes.at(batch) == Usage{1, 30});
  CHECK(found.classes.at(mid) == Usage{0, 0});
  CHECK(found.system == Usage{1.5, 40});
  CHECK(found.pods.at("c").priority_class == batch);
  CHECK(found.problem.empty());
}

TEST_CASE("system is never below 0") {
  Observation found = observe(with_pods({{"a", prod}}), Usage{1, 100}, Measured{{"a", {2, 10}}});
  CHECK(found.system == Usage{0, 90});
}

TEST_CASE("without the node's use the system is unknown, rather than 0") {
  Observation found = observe(with_pods({{"a", prod}}), std::nullopt, Measured{{"a", {2, 10}}});
  CHECK_FALSE(found.node);
  CHECK_FALSE(found.system);
  CHECK(found.classes.at(prod) == Usage{2, 10});
  CHECK(found.problem == "the node has no values of node_cpu_usage and node_memory_usage");
}

TEST_CASE("a class with running pods of which none was measured is unknown, one without running pods uses nothing") {
  state::Snapshot state = with_pods({{"a", prod}, {"b", batch}, {"waits", mid}});
  state.pods[2].phase = state::Phase::pending;
  Observation found = observe(state, Usage{4, 100}, Measured{{"b", {1, 10}}});
  CHECK_FALSE(found.classes.contains(prod));
  CHECK(found.classes.at(mid) == Usage{0, 0});
  CHECK(found.system == Usage{3, 90});
}

TEST_CASE("when no running pod was measured the system is not known: it would be the whole node") {
  Observation found = observe(with_pods({{"a", prod}, {"b", batch}}), Usage{4, 100}, Measured{});
  CHECK(found.node);
  CHECK_FALSE(found.system);
  CHECK(found.problem == "none of 2 running pods has values of pod_cpu_usage and pod_memory_usage");
}

TEST_CASE("a node without pods is all system") {
  CHECK(observe(with_pods({}), Usage{4, 100}, Measured{}).system == Usage{4, 100});
}

TEST_CASE("while the pods are not known only the node is") {
  Observation found = observe(state::Snapshot{}, Usage{4, 100}, Measured{{"a", {1, 1}}});
  CHECK(found.node);
  CHECK_FALSE(found.system);
  CHECK(found.classes.empty());
  CHECK(found.pods.empty());
  CHECK(found.problem == "the pods of this node are not known");
}

TEST_CASE("measured usage of ended pods counts as system") {
  CHECK(observe(with_pods({}), Usage{4, 100}, Measured{{"gone", {1, 1}}}).system == Usage{4, 100});
}

TEST_CASE("use is the 90th percentile of the last period, and both resources must have samples") {
  ManualClock clock;
  auto store = *store::Store::open({}, clock);
  const store::Labels a{{"pod_uid", "a"}}, b{{"pod_uid", "b"}};
  REQUIRE(store->begin_series(1, {kNodeCpu, "cores", 1e-4, {}}));
  REQUIRE(store->begin_series(2, {kNodeMemory, "bytes", 1, {}}));
  REQUIRE(store->begin_series(3, {kPodCpu, "cores", 1e-4, a}));
  REQUIRE(store->begin_series(4, {kPodMemory, "bytes", 1, a}));
  REQUIRE(store->begin_series(5, {kPodCpu, "cores", 1e-4, b}));
  // Ten minutes ago all values were ten times as large. In the last minute CPU is 1, 2, … 10.
  for (std::uint32_t index = 1; index <= 5; ++index)
    REQUIRE(store->append(clock.now(), {{store::Sample{index, 100.0}}}));
  clock.advance(10min);
  for (int i = 1; i <= 10; ++i, clock.advance(1s)) {
    const double value = i;
    const store::Sample samples[] = {{1, value}, {2, 1000 * value}, {3, value / 10}, {4, 100 * value}, {5, value}};
    REQUIRE(store->append(clock.now(), samples));
  }
  Observation found = observe(with_pods({{"a", prod}, {"b", prod}}), *store, clock.now(), 1min);
  CHECK(found.node == Usage{9, 9000});
  REQUIRE(found.pods.size() == 1);
  CHECK(found.pods.at("a").usage.cpu_cores == doctest::Approx(0.9));
  CHECK(found.pods.at("a").usage.memory_bytes == 900);
}
