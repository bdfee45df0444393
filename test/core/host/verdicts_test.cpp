// SPDX-License-Identifier: Apache-2.0
// Verdicts of plugins: events about them, and their end when their plugin ends.
#include <doctest/doctest.h>

#include "stage.hpp"
#include "test/core/service/verdict_records.hpp"
#include "test/support/eventually.hpp"

using namespace koord;
using namespace koord::host;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

const koord_svc_verdict& verdicts_of(const koord_host* host) {
  const auto* table = static_cast<const koord_svc_verdict*>(host->get_service(host, "koord.verdict/1"));
  REQUIRE(table);
  return *table;
}

koord_status post(const koord_host* host, std::uint64_t victim) {
  const koord_verdict verdict = abi_verdict(victim);
  return verdicts_of(host).post(host, &verdict, 1, sizeof verdict);
}

// Publishes a pod; returns its handle.
std::uint64_t publish_pod(FakeHost& host) {
  state::Pod pod;
  pod.uid = "1";
  pod.name = "cart";
  host.hub().publish({.pods = std::vector{pod}});
  return host.hub().current()->pods[0].handle;
}

std::size_t standing(FakeHost& host) { return host.services().verdicts.standing()->records.size(); }

// Returns why the newest verdict ended.
std::string why_ended(FakeHost& host) {
  const auto history = host.services().verdicts.history();
  return history.empty() ? "no verdict" : history[0]->why_ended;
}

// A plugin that posts a verdict when it starts.
struct Posting {
  Posting() {
    victim = publish_pod(stage.host());
    puppet.on("init", [this](const PuppetCall& call) { return post(call.host, victim); });
    stage.apply("Puppet=true");
    REQUIRE(stage.await("puppet", PluginState::running));
    REQUIRE(standing(stage.host()) == 1);
  }

  HostStage stage{"puppet"};
  Puppet puppet{stage.shelf().file("puppet")};
  std::uint64_t victim = 0;
};

}  // namespace

TEST_CASE("a plugin that subscribed gets an event with the generation, and none after it has ended the subscription") {
  Stage stage("puppet");
  std::vector<std::pair<std::uint64_t, std::uint64_t>> events;
  stage.puppet().on("init", [](const PuppetCall& call) { return verdicts_of(call.host).subscribe(call.host, 1); });
  stage.puppet().on("on_event",
                    [&](const PuppetCall& call) { return events.emplace_back(call.first, call.second), KOORD_OK; });
  stage.puppet().on("collect", [](const PuppetCall& call) { return verdicts_of(call.host).subscribe(call.host, 0); });
  REQUIRE(stage.run());
  stage.instance().notify_verdicts(5);
  REQUIRE(stage.puppet().await("on_event"));
  stage.instance().notify(KOORD_ON_PODS, {.pods = 7});
  REQUIRE(stage.tick());
  stage.instance().notify_verdicts(6);
  REQUIRE(stage.tick());
  REQUIRE(stage.stop());
  CHECK(events == decltype(events){{KOORD_ON_VERDICTS, 5}});
}

TEST_CASE("a change of the verdicts reaches plugins that subscribed") {
  HostStage stage{"puppet"};
  Puppet puppet(stage.shelf().file("puppet"));
  puppet.on("init", [](const PuppetCall& call) { return verdicts_of(call.host).subscribe(call.host, 1); });
  stage.apply("Puppet=true");
  REQUIRE(stage.await("puppet", PluginState::running));
  const std::uint64_t victim = publish_pod(stage.host());
  REQUIRE(post(stage.host().abi(), victim) == KOORD_OK);
  CHECK(puppet.await("on_event"));
}

TEST_CASE_FIXTURE(Posting, "verdicts end when the gate of their plugin is switched off") {
  stage.apply("Puppet=false");
  REQUIRE(stage.await("puppet", PluginState::disabled));
  CHECK(standing(stage.host()) == 0);
  CHECK(why_ended(stage.host()) == "its plugin has ended");
}

TEST_CASE_FIXTURE(Posting, "verdicts end when the agent stops its plugins") {
  REQUIRE(stage.stop());
  CHECK(standing(stage.host()) == 0);
}

TEST_CASE("verdicts end with a plugin that fails") {
  Stage stage("puppet");
  const std::uint64_t victim = publish_pod(stage.host());
  stage.puppet().on("collect", [&](const PuppetCall& call) { return post(call.host, victim); });
  REQUIRE(stage.run());
  REQUIRE(stage.tick());
  CHECK(standing(stage.host()) == 1);
  stage.instance().fail("a test");
  REQUIRE(stage.await(PluginState::failed));
  CHECK(standing(stage.host()) == 0);
  CHECK(why_ended(stage.host()) == "its plugin has ended");
}

TEST_CASE("verdicts end with a plugin that does not return") {
  Door door;
  {
    Stage stage("puppet", {.wedged_after = 20ms});
    const std::uint64_t victim = publish_pod(stage.host());
    stage.puppet().on("collect", [door, victim](const PuppetCall& call) {
      const koord_status status = post(call.host, victim);
      return door.pass(), status;
    });
    stage.instance().set_limits(1h, 1h);
    REQUIRE(stage.run());
    stage.instance().set_limits(1h, 20ms);
    stage.instance().tick();
    REQUIRE(stage.await(PluginState::wedged));
    CHECK(eventually([&] { return why_ended(stage.host()) == "its plugin does not return"; }));
    CHECK(standing(stage.host()) == 0);
  }
  door.open();
}
