// SPDX-License-Identifier: Apache-2.0
#include "core/host/instance.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <algorithm>
#include <fstream>
#include <iterator>

#include <filesystem>
#include <stdexcept>

#include "stage.hpp"
#include "test/support/sanitized.hpp"

using namespace koord;
using namespace koord::host;
using namespace std::chrono_literals;
using koord::test::Door;
using koord::test::PuppetCall;
using koord::test::Stage;

namespace {

using Calls = std::vector<std::string>;

koord_status say(const PuppetCall& call, koord_status status, std::string_view why) {
  call.host->set_error(call.host, status, {why.data(), why.size()});
  return status;
}

koord_status throw_it(const PuppetCall& call) { throw std::runtime_error("thrown in " + std::string(call.name)); }

koord_status wait_for_stop(const PuppetCall& call) {
  return call.stop->wait(call.stop, UINT64_MAX) == 1 ? KOORD_OK : KOORD_E_IO;
}

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

std::size_t entries(const char* directory) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

// A joined thread, and the last descriptor of a session, may stay in /proc for a moment.
bool settles_at(std::size_t wanted, const char* directory) {
  for (int i = 0; i < 100'000; ++i) {
    if (entries(directory) <= wanted) return true;  // a thread of an earlier case may have ended in between
    std::this_thread::yield();
  }
  return false;
}

}  // namespace

TEST_CASE("an instance is created, initialised, ticked, stopped and destroyed in this order") {
  Stage stage("puppet");
  REQUIRE(stage.run());
  REQUIRE(stage.tick());
  REQUIRE(stage.stop());
  CHECK(stage.puppet().calls() == Calls{"create", "init", "collect", "stop", "destroy"});
  CHECK(stage.instance().state() == PluginState::stopped);
}

TEST_CASE("a tick gets the time and its deadline") {
  Stage stage("puppet", {.deadline = 250ms});
  std::uint64_t now = 0, deadline = 0;
  stage.puppet().on("collect",
                    [&](const PuppetCall& call) { return now = call.first, deadline = call.second, KOORD_OK; });
  REQUIRE(stage.run());
  REQUIRE(stage.tick());
  CHECK(now == to_ns(stage.host().clock().now()));
  CHECK(deadline - now == 250'000'000);
}

TEST_CASE("run has its own thread, which ends between stop and destroy") {
  Stage stage("runner");
  stage.puppet().on("run", wait_for_stop);
  REQUIRE(stage.run());
  REQUIRE(stage.puppet().await("run"));
  REQUIRE(stage.stop());
  CHECK(stage.puppet().calls() == Calls{"create", "init", "run", "stop", "destroy"});
}

TEST_CASE("the stop descriptor becomes readable after stop and not before") {
  Stage stage("runner");
  auto readable = [](int fd, int timeout_ms) {
    pollfd wait{fd, POLLIN, 0};
    return ::poll(&wait, 1, timeout_ms) == 1;
  };
  stage.puppet().on("run", [&](const PuppetCall& call) {
    bool early = stage.puppet().count("stop") == 0 && readable(call.stop->fd, 0);
    return !early && readable(call.stop->fd, -1) ? KOORD_OK : KOORD_E_IO;
  });
  REQUIRE(stage.run());
  REQUIRE(stage.puppet().await("run"));
  REQUIRE(stage.stop());
  CHECK(stage.instance().status().counts.errors == 0);
}

TEST_CASE("run that fails ends the instance with its reason") {
  Stage stage("runner");
  stage.puppet().on("run", [](const PuppetCall& call) { return say(call, KOORD_E_IO, "ring buffer is gone"); });
  stage.instance().start();
  REQUIRE(stage.await(PluginState::failed));
  CHECK(stage.instance().status().reason == "run(): KOORD_E_IO: ring buffer is gone");
  CHECK(stage.puppet().calls().back() == "destroy");
}

TEST_CASE("an instance that this node cannot have is absent, with its own words") {
  Stage stage("puppet");
  stage.puppet().on("init", [](const PuppetCall& call) { return say(call, KOORD_E_UNSUPPORTED, "no resctrl"); });
  stage.instance().start();
  REQUIRE(stage.await(PluginState::absent));
  CHECK(stage.instance().status().reason == "init(): KOORD_E_UNSUPPORTED: no resctrl");
  CHECK(stage.puppet().calls() == Calls{"create", "init", "destroy"});
}

TEST_CASE("a failed init is followed by destroy, a failed create by nothing") {
  Stage stage("puppet");
  stage.puppet().on("init", [](const PuppetCall&) { return KOORD_E_IO; });
  stage.instance().start();
  REQUIRE(stage.await(PluginState::failed));
  stage.puppet().on("create", [](const PuppetCall&) { return KOORD_E_NOMEM; });
  stage.instance().start();
  REQUIRE(stage.await([](const InstanceStatus& s) { return s.reason == "create(): KOORD_E_NOMEM"; }));
  CHECK(stage.puppet().calls() == Calls{"create", "init", "destroy", "create"});
}

TEST_CASE("a session that begins while the stop of a failed one is still queued runs") {
  Stage stage("puppet");
  Door door;
  std::atomic<int> inits = 0;
  stage.puppet().on("init", [&](const PuppetCall&) -> koord_status {
    if (++inits > 1) return KOORD_OK;
    door.pass();
    return KOORD_E_IO;
  });
  stage.on_change([&, started = false](PluginState state) mutable {
    if (state == PluginState::stopped && !std::exchange(started, true)) stage.instance().start();
  });
  stage.instance().start();
  REQUIRE(stage.puppet().await("init"));
  stage.instance().stop();  // queued after init()
  door.open();
  CHECK(stage.await(PluginState::running));
  CHECK(stage.puppet().calls() == Calls{"create", "init", "destroy", "create", "init"});
}

TEST_CASE("an exception out of a tick is a panic with its text, and the next tick succeeds") {
  Stage stage("puppet");
  stage.puppet().on("collect", throw_it);
  REQUIRE(stage.run());
  REQUIRE(stage.tick());
  CHECK(stage.instance().status().last_error == "collect(): KOORD_E_PANIC: thrown in collect");
  stage.puppet().on("collect", {});
  REQUIRE(stage.tick());
  CHECK(stage.instance().status().counts.errors == 1);
  CHECK(stage.instance().state() == PluginState::running);
}

TEST_CASE("an exception out of each function of the lifecycle is a panic and no crash") {
  for (std::string call : {"create", "init", "on_event", "stop", "destroy"}) {
    CAPTURE(call);
    Stage stage("puppet");
    stage.puppet().on(call, throw_it);
    stage.instance().start();
    stage.instance().reconfigure(R"({"a": 1})");
    stage.instance().stop();
    REQUIRE(stage.await(
        [](const InstanceStatus& s) { return s.state == PluginState::stopped || s.state == PluginState::failed; }));
    if (stage.puppet().count(call) > 0)
      CHECK(stage.instance().status().last_error == call + "(): KOORD_E_PANIC: thrown in " + call);
  }
}

TEST_CASE("an exception that is not a std::exception is a panic, too") {
  Stage stage("puppet");
  stage.puppet().on("collect", [](const PuppetCall&) -> koord_status { throw 42; });
  REQUIRE(stage.run());
  REQUIRE(stage.tick());
  CHECK(stage.instance().status().last_error == "collect(): KOORD_E_PANIC: an exception that is not a std::exception");
}

TEST_CASE("a tick that comes while one runs is skipped and counted") {
  Stage stage("puppet");
  Door door;
  stage.puppet().on("collect", [door](const PuppetCall&) { return door.pass(), KOORD_OK; });
  REQUIRE(stage.run());
  stage.instance().tick();
  REQUIRE(stage.puppet().await("collect"));
  stage.instance().tick();
  stage.instance().tick();
  CHECK(stage.instance().status().counts.skipped_ticks == 2);
  CHECK(stage.instance().status().call == "collect");
  door.open();
  REQUIRE(stage.stop());
  CHECK(stage.puppet().count("collect") == 1);
}

TEST_CASE("the third deadline missed in a row ends the instance") {
  Stage stage("puppet", {.deadline = Duration(1)});
  REQUIRE(stage.run());
  REQUIRE(stage.tick());
  REQUIRE(stage.tick());
  CHECK(stage.instance().state() == PluginState::running);
  stage.instance().tick();
  REQUIRE(stage.await(PluginState::failed));
  CHECK(stage.instance().status().counts.deadline_misses == 3);
  CHECK(stage.instance().status().reason.find("three times in a row") != std::string::npos);
}

TEST_CASE("a deadline that was kept forgives those missed before") {
  Stage stage("puppet", {.deadline = Duration(1)});
  REQUIRE(stage.run());
  for (int i = 0; i < 3; ++i) {
    REQUIRE(stage.tick());
    REQUIRE(stage.tick());
    stage.instance().set_limits(1h, 2h);
    REQUIRE(stage.tick());
    stage.instance().set_limits(Duration(1), 1h);
  }
  CHECK(stage.instance().status().counts.deadline_misses == 6);
  CHECK(stage.instance().state() == PluginState::running);
}

TEST_CASE("a call that does not return wedges the instance, and no function of it is called again") {
  Door door;
  {
    Stage stage("puppet", {.wedged_after = 20ms});
    stage.puppet().on("collect", [door](const PuppetCall&) { return door.pass(), KOORD_OK; });
    stage.instance().set_limits(1h, 1h);
    REQUIRE(stage.run());
    stage.instance().set_limits(1h, 20ms);
    stage.instance().tick();
    REQUIRE(stage.await(PluginState::wedged));
    CHECK(stage.instance().status().reason == "collect() did not return within 20ms");
    stage.instance().stop();
    stage.instance().start();
    CHECK(stage.puppet().calls() == Calls{"create", "init", "collect"});
    CHECK(stage.instance().ended());
  }
  door.open();
}

TEST_CASE("an instance with a run that does not end is abandoned, with the name of the call") {
  Door door;
  Stage stage("runner");
  stage.puppet().on("run", [door](const PuppetCall&) { return door.pass(), KOORD_OK; });
  REQUIRE(stage.run());
  REQUIRE(stage.puppet().await("run"));
  stage.instance().stop();
  REQUIRE(stage.puppet().await("stop"));
  stage.instance().write_off("has not returned within 5s of the stop");
  CHECK(stage.instance().state() == PluginState::wedged);
  CHECK(stage.puppet().count("destroy") == 0);
  door.open();
}

TEST_CASE("on_event gets the subscribed parts that changed, with their versions") {
  Stage stage("puppet");
  stage.puppet().on("init", [](const PuppetCall& call) {
    auto state = static_cast<const koord_svc_state*>(call.host->get_service(call.host, "koord.state/1"));
    return state->subscribe(call.host, KOORD_ON_PODS | KOORD_ON_NODE_SLO);
  });
  std::vector<std::pair<std::uint64_t, std::uint64_t>> events;
  stage.puppet().on("on_event",
                    [&](const PuppetCall& call) { return events.emplace_back(call.first, call.second), KOORD_OK; });
  REQUIRE(stage.run());
  stage.instance().notify(KOORD_ON_NODE | KOORD_ON_PODS, {.node = 3, .pods = 7});
  REQUIRE(stage.puppet().await("on_event"));
  REQUIRE(stage.stop());
  CHECK(events == decltype(events){{KOORD_ON_PODS, 7}});
}

TEST_CASE("a configuration that on_event refuses is not taken") {
  Stage stage("puppet", {.config_json = R"({"v": 1})"});
  auto read = [](const PuppetCall& call) {
    auto config = static_cast<const koord_svc_config*>(call.host->get_service(call.host, "koord.config/1"));
    std::int64_t v = 0;
    config->i64(call.host, {"/v", 2}, &v);
    return v;
  };
  std::vector<std::int64_t> seen;
  stage.puppet().on("on_event", [&](const PuppetCall& call) {
    seen.push_back(read(call));
    return seen.back() == 2 ? say(call, KOORD_E_INVALID, "v must be odd") : KOORD_OK;
  });
  stage.puppet().on("collect", [&](const PuppetCall& call) { return seen.push_back(read(call)), KOORD_OK; });
  REQUIRE(stage.run());
  stage.instance().reconfigure(R"({"v": 2})");
  REQUIRE(stage.puppet().await("on_event"));
  REQUIRE(stage.tick());
  stage.instance().tick();
  REQUIRE(stage.puppet().await("collect"));
  CHECK(stage.instance().status().reason == "keeps its old configuration: on_event(): KOORD_E_INVALID: v must be odd");
  REQUIRE(stage.stop());
  CHECK(seen[0] == 2);
  CHECK(seen[1] == 1);
}

TEST_CASE("a class without on_event ends when its configuration changes, and starts again with it") {
  Stage stage("second");
  REQUIRE(stage.run());
  stage.instance().reconfigure(R"({"v": 2})");
  REQUIRE(stage.await(PluginState::stopped));
  CHECK(stage.instance().status().reason == "its configuration changed");
}

TEST_CASE("the proposals of one evaluate are the plan until it ends") {
  Stage stage("strategy");
  stage.puppet().on("evaluate", [](const PuppetCall& call) {
    auto knobs = static_cast<const koord_svc_knobs*>(call.host->get_service(call.host, "koord.knobs/1"));
    koord_intent intent{.struct_size = sizeof intent, .level = KOORD_LEVEL_POD};
    intent.knob = {"cpu.max", 7};
    intent.cgroup_dir = {"kubepods.slice", 14};
    intent.value = {"20000 100000", 12};
    intent.reason = {"test", 4};
    intent.ttl_ns = 1'000'000'000;
    return knobs->propose(call.host, &intent, 1, sizeof intent);
  });
  REQUIRE(stage.run());
  REQUIRE(stage.tick());
  CHECK(stage.governor().decisions().at(0).knob == "cpu.max");
  CHECK(stage.governor().active_intents() == 1);
  REQUIRE(stage.stop());
  CHECK(stage.governor().active_intents() == 0);
}

TEST_CASE("an advisor that asks for koord.knobs/1 gets NULL") {
  Stage stage("puppet");
  const void* knobs = &stage;
  stage.puppet().on("init", [&](const PuppetCall& call) {
    return knobs = call.host->get_service(call.host, "koord.knobs/1"), KOORD_OK;
  });
  REQUIRE(stage.run());
  CHECK(knobs == nullptr);
}

TEST_CASE("an external advisor is asked for its URL at start") {
  Stage stage("external");
  REQUIRE(stage.run());
  const std::vector<ScrapeStatus> scrapes = stage.instance().status().scrapes;
  REQUIRE(scrapes.size() == 1);
  CHECK(scrapes[0].url == "http://127.0.0.1:9100/metrics");
}

TEST_CASE("acceptance 19: a thousand starts and stops leave no thread, no descriptor and no mapping behind") {
  Stage stage("runner");
  stage.puppet().on("run", wait_for_stop);
  std::size_t descriptors = entries("/proc/self/fd");
  std::size_t threads = entries("/proc/self/task");
  auto cycle = [&] {
    REQUIRE(stage.run());
    REQUIRE(stage.stop());
  };
  for (int i = 0; i < 100; ++i) cycle();  // after this the allocator has its arenas and the C library its stacks
  const std::size_t mapped = mappings();
  for (int i = 0; i < 1000; ++i) cycle();
  if (!test::kSanitized) CHECK(mappings() <= mapped + 2);  // 1000 leaked mappings would exceed the two of the allocator
  CHECK(settles_at(descriptors, "/proc/self/fd"));
  CHECK(settles_at(threads, "/proc/self/task"));
}
