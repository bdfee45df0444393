// SPDX-License-Identifier: Apache-2.0
#include "core/host/plugin_manager.hpp"

#include <doctest/doctest.h>
#include <elf.h>
#include <sys/stat.h>

#include <atomic>
#include <cstddef>
#include <filesystem>

#include "stage.hpp"

using namespace koord;
using namespace koord::host;
using koord::test::Door;
using koord::test::HostStage;
using koord::test::PluginShelf;
using koord::test::Puppet;
using koord::test::PuppetCall;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

config::PluginSettings settings_of(HostStage& stage) { return stage.settings().defaults; }

}  // namespace

TEST_CASE("a plugin with its gate on is loaded, ticked and stopped") {
  HostStage stage{"puppet"};
  Puppet puppet(stage.shelf().file("puppet"));
  stage.apply("Puppet=true");
  REQUIRE(puppet.await("collect"));
  CHECK(stage.await("puppet", PluginState::running));
  CHECK(stage.stop());
  CHECK(puppet.calls().back() == "destroy");
}

TEST_CASE("status has the plugin's manifest, gate and calls") {
  HostStage stage{"puppet"};
  Puppet puppet(stage.shelf().file("puppet"));
  stage.apply("Puppet=true");
  REQUIRE(puppet.await("collect"));
  PluginStatus status = stage.status("puppet");
  CHECK(status.version == "1.2.3");
  CHECK(status.path == stage.shelf().file("puppet"));
  CHECK(status.gate == "Puppet");
  CHECK(status.enabled);
  CHECK(status.counts.calls >= 2);
  CHECK(status.period == std::chrono::hours(1));
}

TEST_CASE("a plugin with its gate off is known and not mapped") {
  HostStage stage{"puppet"};
  stage.apply("Puppet=false");
  CHECK(stage.status("puppet").state == PluginState::disabled);
  CHECK(stage.status("puppet").counts.calls == 0);
}

TEST_CASE("a plugin outside of the host's own directories is off unless its gate is set, whatever its manifest says") {
  HostStage stage{"puppet"};
  PluginShelf third_party{"vendor", "second"};
  stage.settings().directories = {third_party.path()};
  stage.apply("");
  CHECK(stage.await("puppet", PluginState::running));
  CHECK(stage.status("com.acme.puppet").state == PluginState::disabled);
  CHECK(stage.status("second").state == PluginState::disabled);
}

TEST_CASE("a plugin outside of the host's own directories does not run in this process, whatever its name") {
  HostStage stage{};
  PluginShelf third_party{"puppet"};
  stage.settings().directories = {third_party.path()};
  stage.apply("Puppet=true");
  CHECK(stage.status("puppet").reason == "expected a process of its own, this host offers none");
}

TEST_CASE("no plugin can take the name of one of the host's own plugins") {
  HostStage stage{"puppet"};
  PluginShelf third_party;
  third_party.put_as("puppet", "a-puppet");
  stage.settings().directories = {third_party.path()};
  stage.apply("Puppet=true");
  std::vector<PluginStatus> all = stage.manager().status();
  REQUIRE(all.size() == 2);
  CHECK(all[0].path == stage.shelf().file("puppet"));
  CHECK(all[1].reason == "expected an id of its own, found 'puppet' also in " + stage.shelf().file("puppet"));
  CHECK(stage.await("puppet", PluginState::running));
}

TEST_CASE("a directory of both kinds has the host's own plugins, each once") {
  HostStage stage{"puppet"};
  stage.settings().directories = {stage.shelf().path()};
  stage.apply("");
  CHECK(stage.manager().status().size() == 1);
  CHECK(stage.await("puppet", PluginState::running));
}

TEST_CASE("switching a gate off ends the plugin, and on again starts it") {
  HostStage stage{"puppet"};
  Puppet puppet(stage.shelf().file("puppet"));
  stage.apply("Puppet=true");
  REQUIRE(stage.await("puppet", PluginState::running));
  stage.apply("Puppet=false");
  REQUIRE(stage.await("puppet", PluginState::disabled));
  CHECK(puppet.calls().back() == "destroy");
  stage.apply("Puppet=true");
  CHECK(puppet.await("create", 2));
  CHECK(stage.await("puppet", PluginState::running));
}

TEST_CASE("acceptance 4: each flawed file is refused with one line, and the others run") {
  HostStage stage{"puppet",        "other-major", "no-manifest", "wants-knobs", "wants-unknown",
                  "other-runtime", "throws",      "aborts",      "undefined",   "no-entry"};
  stage.shelf().put_as("second", "foreign");
  stage.shelf().patch("foreign", offsetof(Elf64_Ehdr, e_machine), std::string("\x16\x00", 2));
  stage.shelf().put_as("second", "truncated");
  std::filesystem::resize_file(stage.shelf().file("truncated"), 4000);
  stage.shelf().put_as("second", "writable");
  ::chmod(stage.shelf().file("writable").c_str(), 0666);
  stage.apply("Puppet=true,Flawed=true");

  struct {
    std::string id;
    std::string_view why;
  } rows[] = {
      {"other-major", "expected plugin ABI 1.x, found 2.0"},
      {"no-manifest", "expected a section '.koord_manifest', found none"},
      {"wants-knobs", "wants-knobs requests service koord.knobs/1"},
      {"wants-unknown", "requests service com.acme.magic/1"},
      {"other-runtime", "expected a process of its own, this host offers none"},
      {"foreign", "found s390"},
      {"truncated", "truncated: expected"},
      {"writable", "found mode 0666"},
      {"throws", "found the exception: the constructor's text"},
      {"aborts", "by signal 6"},
      {"undefined", "undefined symbol: koord_no_such_function"},
      {"no-entry", "expected the symbol koord_entry_v1, found none"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.id);
    CHECK(stage.await(row.id, PluginState::refused));
    std::string reason = stage.status(row.id).reason;
    CHECK_MESSAGE(contains(reason, row.why), reason);
    CHECK_FALSE(contains(reason, "\n"));
  }
  CHECK(stage.await("puppet", PluginState::running));
  CHECK(stage.manager().ready().ready);
}

TEST_CASE("acceptance 12: an advisor that asks for koord.knobs/1 gets NULL, a strategy gets it") {
  std::atomic<const void*> given_to_advisor = "not asked yet", given_to_strategy = nullptr;
  HostStage stage{"puppet", "strategy"};
  Puppet advisor(stage.shelf().file("puppet")), strategy(stage.shelf().file("strategy"));
  const auto ask = [](std::atomic<const void*>& given) {
    return [&given](const PuppetCall& call) {
      return given = call.host->get_service(call.host, "koord.knobs/1"), KOORD_OK;
    };
  };
  advisor.on("init", ask(given_to_advisor));
  strategy.on("init", ask(given_to_strategy));
  stage.apply("Puppet=true,Strategy=true");
  REQUIRE(stage.await("puppet", PluginState::running));
  REQUIRE(stage.await("strategy", PluginState::running));
  CHECK(given_to_advisor.load() == nullptr);
  CHECK(given_to_strategy.load() != nullptr);
}

TEST_CASE("the second file with an id is refused and names the first") {
  HostStage stage{"puppet"};
  stage.shelf().put_as("puppet", "twin");
  stage.apply("Puppet=true");
  std::vector<PluginStatus> all = stage.manager().status();
  REQUIRE(all.size() == 2);
  CHECK(all[1].reason == "expected an id of its own, found 'puppet' also in " + stage.shelf().file("puppet"));
  CHECK(stage.await("puppet", PluginState::running));
}

TEST_CASE("a plugin that is put into the directory is found by the next discovery") {
  HostStage stage{"puppet"};
  stage.apply("");
  CHECK(stage.manager().status().size() == 1);
  stage.shelf().put("second");
  stage.apply("Second=true");
  CHECK(stage.await("second", PluginState::running));
}

TEST_CASE("a plugin ends and is forgotten after its file was removed") {
  HostStage stage{"puppet"};
  Puppet puppet(stage.shelf().file("puppet"));
  stage.apply("Puppet=true");
  REQUIRE(stage.await("puppet", PluginState::running));
  std::filesystem::remove(stage.shelf().file("puppet"));
  stage.apply("");
  CHECK(puppet.await("destroy"));
  CHECK(stage.manager().status().empty());
}

TEST_CASE("a directory that cannot be trusted is reported as a problem") {
  HostStage stage{"puppet"};
  ::chmod(stage.shelf().path().c_str(), 0777);
  stage.apply("");
  REQUIRE(stage.manager().problems().size() == 1);
  CHECK(contains(stage.manager().problems()[0], "found mode 0777"));
  CHECK(stage.manager().status().empty());
}

TEST_CASE("a configuration that does not fit the schema keeps the plugin from starting and names the pointer") {
  HostStage stage{"puppet"};
  stage.settings().settings["puppet"] = settings_of(stage);
  stage.settings().settings["puppet"].config_json = R"({"limit": {"cpu": "two"}})";
  stage.apply("Puppet=true");
  REQUIRE(stage.await("puppet", PluginState::failed));
  CHECK(contains(stage.status("puppet").reason, "configuration: /limit/cpu: "));
  stage.settings().settings["puppet"].config_json = R"({"limit": {"cpu": 2}})";
  stage.apply("Puppet=true");
  CHECK(stage.await("puppet", PluginState::running));
}

TEST_CASE("a running plugin gets a changed configuration, but not an invalid one") {
  HostStage stage{"puppet"};
  Puppet puppet(stage.shelf().file("puppet"));
  stage.settings().settings["puppet"] = settings_of(stage);
  stage.apply("Puppet=true");
  REQUIRE(stage.await("puppet", PluginState::running));
  stage.settings().settings["puppet"].config_json = R"({"limit": 7})";
  stage.apply("Puppet=true");
  CHECK(contains(stage.status("puppet").reason, "keeps its old configuration: configuration: /limit: "));
  CHECK(stage.status("puppet").refused_configs == 1);
  stage.settings().settings["puppet"].config_json = R"({"limit": {"cpu": 2}})";
  stage.apply("Puppet=true");
  REQUIRE(puppet.await("on_event"));
  CHECK(puppet.count("create") == 1);
}

TEST_CASE("an invalid configuration of one plugin does not prevent other settings from being used") {
  HostStage stage{"puppet"};
  Puppet puppet(stage.shelf().file("puppet"));
  stage.settings().settings["puppet"] = settings_of(stage);
  stage.apply("Puppet=true");
  REQUIRE(stage.await("puppet", PluginState::running));
  config::PluginSettings& settings = stage.settings().settings["puppet"];
  settings.period = std::chrono::milliseconds(1);
  settings.deadline = std::chrono::hours(1);
  settings.config_json = R"({"limit": 7})";
  stage.apply("Puppet=true");
  CHECK(stage.status("puppet").refused_configs == 1);
  CHECK(puppet.await("collect", 3));
}

TEST_CASE("a plugin without on_event starts again with a changed configuration") {
  HostStage stage{"second"};
  Puppet puppet(stage.shelf().file("second"));
  stage.settings().settings["second"] = settings_of(stage);
  stage.apply("Second=true");
  REQUIRE(stage.await("second", PluginState::running));
  stage.settings().settings["second"].config_json = R"({"limit": {"cpu": 2}})";
  stage.apply("Second=true");
  CHECK(puppet.await("create", 2));
}

TEST_CASE("a plugin that asks for a process of its own is refused by a host that offers none") {
  HostStage stage{"puppet"};
  stage.settings().settings["puppet"] = settings_of(stage);
  stage.settings().settings["puppet"].isolation = config::Isolation::process;
  stage.apply("Puppet=true");
  CHECK(stage.status("puppet").state == PluginState::refused);
  CHECK(stage.status("puppet").reason == "expected a process of its own, this host offers none");
}

TEST_CASE("a plugin that failed begins again") {
  HostStage stage{"puppet"};
  Puppet puppet(stage.shelf().file("puppet"));
  puppet.on("init", [&](const PuppetCall&) { return puppet.count("init") < 3 ? KOORD_E_AGAIN : KOORD_OK; });
  stage.apply("Puppet=true");
  REQUIRE(stage.await("puppet", PluginState::running));
  CHECK(stage.status("puppet").restarts == 2);
}

TEST_CASE("a plugin that fails five times in ten minutes is parked until its gate is switched") {
  HostStage stage{"puppet"};
  Puppet puppet(stage.shelf().file("puppet"));
  puppet.on("init", [](const PuppetCall&) { return KOORD_E_IO; });
  stage.apply("Puppet=true");
  REQUIRE(stage.await("puppet", PluginState::parked));
  CHECK(puppet.count("init") == 5);
  CHECK(stage.status("puppet").reason == "failed 5 times in 10m, last: init(): KOORD_E_IO");
  puppet.on("init", {});
  stage.apply("Puppet=false");
  stage.apply("Puppet=true");
  CHECK(stage.await("puppet", PluginState::running));
}

TEST_CASE("readiness follows the required plugins only") {
  HostStage stage{"puppet", "second"};
  Puppet puppet(stage.shelf().file("puppet"));
  puppet.on("init", [](const PuppetCall&) { return KOORD_E_UNSUPPORTED; });
  stage.apply("Puppet=true,Second=true");
  REQUIRE(stage.await("puppet", PluginState::absent));
  CHECK(stage.manager().ready().ready);
  stage.settings().settings["puppet"] = settings_of(stage);
  stage.settings().settings["puppet"].required = true;
  stage.apply("Puppet=true,Second=true");
  Readiness readiness = stage.manager().ready();
  CHECK_FALSE(readiness.ready);
  REQUIRE(readiness.reasons.size() == 1);
  CHECK(readiness.reasons[0] == "puppet is absent: init(): KOORD_E_UNSUPPORTED");
}

TEST_CASE("a plugin that was absent is tried again with another configuration") {
  HostStage stage{"puppet"};
  Puppet puppet(stage.shelf().file("puppet"));
  puppet.on("init", [](const PuppetCall&) { return KOORD_E_UNSUPPORTED; });
  stage.apply("Puppet=true");
  REQUIRE(stage.await("puppet", PluginState::absent));
  puppet.on("init", [](const PuppetCall&) { return KOORD_OK; });
  stage.settings().settings["puppet"] = settings_of(stage);
  stage.settings().settings["puppet"].config_json = R"({"other": true})";
  stage.apply("Puppet=true");
  CHECK(stage.await("puppet", PluginState::running));
}

TEST_CASE("a required plugin that no directory has keeps the agent from being ready") {
  HostStage stage{"puppet"};
  stage.settings().settings["advisor-x"] = settings_of(stage);
  stage.settings().settings["advisor-x"].required = true;
  stage.apply("");
  CHECK(stage.manager().ready().reasons ==
        std::vector<std::string>{"advisor-x is required, no plugin directory has it"});
}

TEST_CASE("a plugin that stays at its CPU limit ticks slower, then is restarted") {
  HostStage stage{"runner", "second"};
  Puppet busy(stage.shelf().file("runner"));
  busy.on("run", [](const PuppetCall& call) {
    while (call.stop->wait(call.stop, 0) == 0) {
    }
    return KOORD_OK;
  });
  stage.settings().settings["runner"] = settings_of(stage);
  stage.settings().settings["runner"].period = std::chrono::milliseconds(20);
  stage.settings().settings["runner"].max_cpu_millis = 10;
  stage.apply("Runner=true,Second=true");
  REQUIRE(busy.await("create", 2));
  const PluginStatus status = stage.status("runner");
  CHECK(status.budget.hard_breaches >= 1);
  CHECK(status.budget.soft_breaches >= 1);
  CHECK(status.budget.slowdown == 8);
  CHECK(status.period == std::chrono::milliseconds(160));
  CHECK(stage.status("second").restarts == 0);
}

TEST_CASE("a plugin that does not end is left behind, and stop says so") {
  HostStage stage{"puppet", "second"};
  Door door;
  Puppet stuck(stage.shelf().file("puppet"));
  stuck.on("stop", [door](const PuppetCall&) { return door.pass(), KOORD_OK; });
  stage.apply("Puppet=true,Second=true");
  REQUIRE(stage.await("puppet", PluginState::running));
  REQUIRE(stage.await("second", PluginState::running));
  CHECK_FALSE(stage.stop(std::chrono::milliseconds(50)));
  CHECK(stage.status("puppet").state == PluginState::wedged);
  CHECK(contains(stage.status("puppet").reason, "stop() has not returned within 50ms of the stop"));
  CHECK(stage.status("second").state == PluginState::disabled);
  door.open();
}

TEST_CASE("plugins that subscribed are notified of a change of the state") {
  HostStage stage{"puppet"};
  Puppet puppet(stage.shelf().file("puppet"));
  puppet.on("init", [](const PuppetCall& call) {
    auto state = static_cast<const koord_svc_state*>(call.host->get_service(call.host, "koord.state/1"));
    return state->subscribe(call.host, KOORD_ON_NODE);
  });
  stage.apply("Puppet=true");
  REQUIRE(stage.await("puppet", PluginState::running));
  state::Node node;
  node.name = "node-1";
  stage.host().hub().publish({.node = node});
  CHECK(puppet.await("on_event"));
}

TEST_CASE("the host's metrics show for each enabled plugin whether it is up and the cost of its calls") {
  HostStage stage{"puppet", "second"};
  stage.apply("Puppet=true,Second=false");
  REQUIRE(stage.await("puppet", PluginState::running));
  std::string text;
  stage.metrics().write_text(text);
  CHECK(contains(text, R"(koordetector_plugin_up{plugin="puppet"} 1)"));
  CHECK(contains(text, R"(koordetector_plugin_failed{plugin="puppet"} 0)"));
  CHECK(contains(text, R"(koordetector_plugin_call_seconds_total{plugin="puppet"} )"));
  CHECK(contains(text, R"(koordetector_plugin_restarts_total{plugin="puppet"} 0)"));
  CHECK_FALSE(contains(text, R"(plugin="second")"));
}
