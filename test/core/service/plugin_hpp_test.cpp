// SPDX-License-Identifier: Apache-2.0
// The services through plugin.hpp: settings and files as C++ values.
#include <doctest/doctest.h>
#include <functional>
#include <koordetector/plugin.hpp>

#include "test/support/fake_host.hpp"

using namespace koord;
using namespace koord::test;

namespace {

struct OnNode {
  explicit OnNode(std::string config_json = "{}") : host(node, std::move(config_json)) {}

  FakeNode node{{{"proc/loadavg", "0.50 0.40 0.30 1/100 4711\n"}, {"proc/long", std::string(5000, 'x')}}};
  FakeHost host;
  plugin::Config config() const { return plugin::Config(host.abi()); }
};

struct Configured : OnNode {
  Configured()
      : OnNode(R"({"limits": {"cpu": 5}, "share": 0.25, "on": true, "off": false, "name": "a", "empty": ""})") {}
};

struct Reader : plugin::Advisor {
  void collect(std::uint64_t, std::uint64_t) override {}
};
struct Listener : Reader {
  void on_event(std::uint32_t, std::uint64_t) override {}
};
struct Heir : Listener {};

template <class T>
bool takes_events() {
  return plugin::AdvisorTable<T>::table.life.on_event != nullptr;
}

koord_status status_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const plugin::Failure& failure) {
    return failure.status();
  }
  return KOORD_OK;
}

}  // namespace

TEST_CASE_FIXTURE(Configured, "a setting is a value of its type") {
  CHECK(config().i64("/limits/cpu") == 5);
  CHECK(config().f64("/share") == 0.25);
  CHECK(config().boolean("/on") == true);
  CHECK(config().string("/name") == "a");
}

TEST_CASE_FIXTURE(Configured, "a setting that is false, zero or empty is there all the same") {
  CHECK(config().boolean("/off") == false);
  CHECK(config().boolean("/off").has_value());
  CHECK(config().string("/empty") == "");
}

TEST_CASE_FIXTURE(OnNode, "a setting that is not there is nothing") {
  CHECK_FALSE(config().i64("/limits/cpu").has_value());
  CHECK_FALSE(config().f64("/share").has_value());
  CHECK_FALSE(config().boolean("/on").has_value());
  CHECK_FALSE(config().string("/name").has_value());
  CHECK(config().json() == "{}");
}

TEST_CASE_FIXTURE(Configured, "a setting of another type is a failure") {
  CHECK(status_of([&] { config().i64("/name"); }) == KOORD_E_INVALID);
  CHECK(status_of([&] { config().boolean("/share"); }) == KOORD_E_INVALID);
  CHECK(status_of([&] { config().string("/on"); }) == KOORD_E_INVALID);
}

TEST_CASE("a setting may be longer than any buffer that was thought of") {
  const OnNode on(R"({"name": ")" + std::string(5000, 'y') + R"("})");
  CHECK(on.config().string("/name") == std::string(5000, 'y'));
}

TEST_CASE_FIXTURE(OnNode, "a file of the node is its content, whatever its length") {
  const plugin::Files files(host.abi());
  CHECK(files.read(KOORD_ROOT_PROC, "loadavg") == "0.50 0.40 0.30 1/100 4711\n");
  CHECK(files.read(KOORD_ROOT_PROC, "long").size() == 5000);
}

TEST_CASE_FIXTURE(OnNode, "a file that is not there, or outside its root, is a failure") {
  const plugin::Files files(host.abi());
  CHECK(status_of([&] { files.read(KOORD_ROOT_PROC, "none"); }) == KOORD_E_NOT_FOUND);
  CHECK(status_of([&] { files.read(KOORD_ROOT_PROC, "../sys/none"); }) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(OnNode, "a query gives one row per series, however many, and the samples behind them") {
  plugin::Metric metric(host.abi(), {"acme_depth", "", "depth", 1});
  plugin::Batch batch(host.abi());
  for (int i = 0; i < 40; ++i) batch.add(metric.series(KOORD_NO_SUBJECT, {{"queue", std::to_string(i)}}), i);
  batch.send(to_ns(host.clock().now()));
  const plugin::History history(host.abi());
  plugin::Query query;
  query.metric = "acme_depth";
  CHECK(history.aggregate(query).size() == 40);
  CHECK(history.samples(query).size() == 40);
  query.labels = {{"queue", "7"}};
  const std::vector<koord_agg_row> rows = history.aggregate(query);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].value == 7);
  query.aggregation = 99;
  CHECK(status_of([&] { history.aggregate(query); }) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(OnNode, "a fact is kept under its key, and one that is not there is nothing") {
  const plugin::Kv kv(host.abi());
  CHECK(kv.get("model") == std::nullopt);
  kv.set("model", std::string(1000, 'x'));
  CHECK(kv.get("model") == std::string(1000, 'x'));
  kv.remove("model");
  kv.remove("model");  // it is already removed
  CHECK(kv.get("model") == std::nullopt);
  CHECK(status_of([&] { kv.set("", "x"); }) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(OnNode, "a proposed intent reaches the host with its parts") {
  plugin::Intent intent;
  intent.level = KOORD_LEVEL_POD;
  intent.knob = "cpu.max";
  intent.cgroup_dir = "kubepods/pod1";
  intent.value = "1.5";
  intent.reason = "it waits";
  intent.inputs = {{"throttled", "0.3"}};
  intent.ttl = std::chrono::seconds(60);
  intent.role = KOORD_ROLE_SCALE;
  const plugin::Knobs knobs(host.abi());
  knobs.propose({intent});
  const knob::Plan plan = host.context().take_plan();
  REQUIRE(plan.size() == 1);
  CHECK(plan[0].role == decision::Role::scale);
  CHECK(plan[0].inputs == metric::Labels{{"throttled", "0.3"}});
  CHECK(plan[0].ttl == std::chrono::seconds(60));
  intent.knob = "cpu.maxx";
  CHECK(status_of([&] { knobs.propose({intent}); }) == KOORD_E_INVALID);
  CHECK(status_of([&] { knobs.base("cpu.maxx", "kubepods"); }) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(OnNode, "a request for evictions reaches the host with its parts") {
  plugin::Eviction eviction;
  eviction.pods = {7, 3};
  eviction.resource = "memory";
  eviction.reason = "no memory is left";
  eviction.amount = 1 << 30;
  eviction.inputs = {{"feature", "MemoryEvict"}};
  const plugin::Evict service(host.abi());
  service.request(eviction);
  const std::vector<evict::Request> taken = host.context().take_evictions();
  REQUIRE(taken.size() == 1);
  CHECK(taken[0] == evict::Request{{7, 3}, "memory", "no memory is left", 1 << 30, {{"feature", "MemoryEvict"}}});
  eviction.amount = 0;
  CHECK(status_of([&] { service.request(eviction); }) == KOORD_E_INVALID);
}

TEST_CASE(
    "a plugin takes events if it or one of its own base classes overrides on_event(); others are restarted with a new configuration") {
  CHECK_FALSE(takes_events<Reader>());
  CHECK(takes_events<Listener>());
  CHECK(takes_events<Heir>());
}

TEST_CASE_FIXTURE(OnNode, "a negative duration is refused, and not converted to a time of centuries") {
  const std::chrono::nanoseconds passed{-1};
  CHECK(status_of([&] { plugin::Kv(host.abi()).set("key", "value", passed); }) == KOORD_E_INVALID);
  plugin::Intent late;
  late.ttl = passed;
  CHECK(status_of([&] { plugin::Knobs(host.abi()).propose({late}); }) == KOORD_E_INVALID);
}
