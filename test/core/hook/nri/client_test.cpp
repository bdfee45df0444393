// SPDX-License-Identifier: Apache-2.0
// Connections of the client: start, end, and calls to the runtime.
#include "core/hook/nri/client.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "connected_plugin.hpp"

using namespace koord;
using namespace koord::nri;
using namespace koord::test;
using namespace std::chrono_literals;

TEST_CASE("the client registers, takes all pods and containers, and is active then") {
  ConnectedPlugin plugin(patient());
  plugin.connect(containerd_1_7({synchronize_request({pod_named("p1"), pod_named("p2")}, {container_of("c1", "p1")})}));
  CHECK(plugin.runtime->registered == std::vector<std::string>{encode_register_plugin("koordetector", "50")});
  CHECK(plugin.events.lines == std::vector<std::string>{"connected containerd 1.7.24", "Synchronize"});
  CHECK(plugin.events.pods.size() == 2);
  CHECK(plugin.events.containers.at(0).pod_id == "p1");
  const Status& status = plugin.client->status();
  CHECK(status.runtime.version == "1.7.24");
  CHECK(status.connections == 1);
  CHECK(status.reconnects() == 0);
  CHECK(status.of(Stage::synchronize).calls == 1);
  CHECK(status.of(Stage::synchronize).latency.count() == 1);
}

TEST_CASE("Configure may come before or after the answer to RegisterPlugin") {
  for (const bool first : {true, false}) {
    CAPTURE(first);
    ConnectedPlugin plugin(patient());
    FakeRuntime::Script script = containerd_1_7();
    script.configure_first = first;
    plugin.connect(script);
    CHECK(plugin.client->status().connections == 1);
  }
}

TEST_CASE("the client subscribes to the events that the runtime has, and that its user wants") {
  ConnectedPlugin old(patient());
  old.connect();
  CHECK(old.runtime->events == std::vector<std::string>{encode_configure_answer(0x7FF)});

  Options options = patient();
  options.events = mask_of(Stage::create_container) | mask_of(Stage::update_pod_sandbox);
  ConnectedPlugin newer(options);
  newer.connect({.configure = configure_request("containerd", "v2.2.0"), .synchronize = {synchronize_request({}, {})}});
  CHECK(newer.runtime->events == std::vector<std::string>{encode_configure_answer(0x808)});
}

TEST_CASE("each message is sent as a frame of ten bytes and a frame with its body") {
  ConnectedPlugin plugin(patient());
  plugin.events.create_answer.adjustment.env = {{"LARGE", std::string(100'000, 'x')}};
  plugin.connect();
  plugin.ask("CreateContainer", event_request(pod_named("p"), container_of("c", "p")));
  const auto& sizes = plugin.runtime->frame_sizes;
  REQUIRE(sizes.size() > 4);
  CHECK(sizes[0] == kMessageHeader);
  CHECK(sizes[sizes.size() - 2] == kMessageHeader);
  CHECK(sizes.back() > 100'000);
}

TEST_CASE("a client that starts before the runtime connects when the socket appears") {
  ConnectedPlugin plugin(patient());
  plugin.client->start();
  REQUIRE(plugin.here.until([&] { return plugin.client->status().attempts >= 2; }));
  CHECK(plugin.client->status().state == ConnectionState::waiting);
  CHECK(plugin.client->status().last_error.ends_with("No such file or directory"));
  plugin.run_runtime();
  CHECK(plugin.until_active());
}

TEST_CASE("a socket that appears is noticed at once, without waiting for the next attempt") {
  ConnectedPlugin plugin;
  Options options = patient();
  options.socket_path = plugin.folder.socket();
  options.first_retry = options.longest_retry = 24h;
  options.seed = 3;
  plugin.client = std::make_unique<Client>(plugin.here.loop, plugin.clock, options, plugin.events);
  plugin.client->start();
  plugin.run_runtime();
  CHECK(plugin.until_active());
}

TEST_CASE("the folder of the socket may be missing at first") {
  ConnectedPlugin plugin(patient());
  std::filesystem::remove_all(plugin.folder.path);
  plugin.client->start();
  REQUIRE(plugin.here.until([&] { return plugin.client->status().attempts >= 2; }));
  std::filesystem::create_directory(plugin.folder.path);
  plugin.run_runtime();
  CHECK(plugin.until_active());
}

TEST_CASE("after the runtime has restarted, one new connection brings all pods again") {
  ConnectedPlugin plugin(patient());
  plugin.connect();
  plugin.runtime.reset();
  REQUIRE(plugin.here.until([&] { return plugin.client->status().state == ConnectionState::waiting; }));
  CHECK(plugin.events.lines.back() == "disconnected: the runtime closed the connection");
  plugin.run_runtime(containerd_1_7({synchronize_request({pod_named("p9")}, {})}));
  REQUIRE(plugin.until_active());
  CHECK(plugin.events.pods.at(0).id == "p9");
  CHECK(plugin.client->status().connections == 2);
  CHECK(plugin.client->status().reconnects() == 1);
  CHECK(plugin.runtime->accepted == 1);
}

TEST_CASE("call ids start again on a new connection") {
  ConnectedPlugin plugin(patient());
  plugin.connect();
  for (int i = 0; i < 5; ++i) plugin.ask("StateChange", state_change(2, pod_named("p")));
  plugin.runtime->close();
  REQUIRE(plugin.here.until([&] { return plugin.client->status().connections == 2; }));
  CHECK(plugin.client->status().bad_requests == 0);
}

TEST_CASE("a runtime that refuses the plugin is asked again, and its reason is known") {
  ConnectedPlugin plugin(patient());
  FakeRuntime::Script script = containerd_1_7();
  script.refuse = "invalid plugin index";
  plugin.run_runtime(script);
  plugin.client->start();
  REQUIRE(plugin.here.until([&] { return plugin.client->status().attempts >= 3; }));
  CHECK(plugin.client->status().last_error == "RegisterPlugin: invalid plugin index (code 2)");
  CHECK(plugin.client->status().connections == 0);
  CHECK(plugin.events.lines.empty());
}

TEST_CASE("a runtime that accepts the plugin and then is silent is asked again") {
  Options options = patient();
  options.registration_timeout = 5ms;
  ConnectedPlugin plugin(options);
  plugin.run_runtime({.silent = true});
  plugin.client->start();
  REQUIRE(plugin.here.until([&] { return plugin.runtime->accepted >= 3; }));
  CHECK(plugin.client->status().connections == 0);
}

TEST_CASE("a runtime that breaks the protocol is left, and connected to again") {
  ConnectedPlugin plugin(patient());
  plugin.connect();
  plugin.runtime->send(std::string("\0\0\0\1\xFF\xFF\xFF\xFF", 8));
  REQUIRE(plugin.here.until([&] { return plugin.client->status().connections == 2; }));
  CHECK(plugin.events.saw("disconnected: a frame of stream 1 has 4294967295 bytes, expected at most 16777226"));
}

TEST_CASE("update_containers changes containers, and names those that the runtime could not change") {
  ConnectedPlugin plugin(patient());
  plugin.connect();
  plugin.runtime->update_answer.payload =
      message_of([](Writer& out) { out.message(1, [](Writer& update) { update.text(1, "c2"); }); });
  const std::vector<Update> updates = {{.container_id = "c1", .resources = {.cpu_shares = 5}}, {.container_id = "c2"}};
  std::optional<std::vector<std::string>> failed;
  plugin.client->update_containers(updates, [&](Result<std::vector<std::string>> result) { failed = *result; });
  REQUIRE(plugin.here.until([&] { return failed.has_value(); }));
  CHECK(*failed == std::vector<std::string>{"c2"});
  CHECK(plugin.runtime->updates == std::vector<std::string>{*encode_updates(updates)});
  CHECK(plugin.client->status().updates_sent == 2);
  CHECK(plugin.client->status().updates_failed == 1);
}

TEST_CASE("update_containers may be called by a handler, before it has answered") {
  ConnectedPlugin plugin(patient());
  plugin.events.answer_create = false;
  plugin.connect();
  const std::uint32_t call =
      plugin.runtime->call("CreateContainer", event_request(pod_named("p"), container_of("c", "p")));
  REQUIRE(plugin.here.until([&] { return !plugin.events.create_done.empty(); }));
  bool updated = false;
  plugin.client->update_containers({{.container_id = "other"}},
                                   [&](Result<std::vector<std::string>> failed) { updated = failed.has_value(); });
  plugin.events.create_done.front()({});
  CHECK(plugin.here.until([&] { return plugin.runtime->answer_to(call) && updated; }));
}

TEST_CASE("update_containers fails without a connection, and when the connection ends") {
  ConnectedPlugin plugin(patient());
  std::vector<std::string> errors;
  const auto on_updated = [&](Result<std::vector<std::string>> failed) { errors.push_back(failed.error().message()); };
  plugin.client->update_containers({{.container_id = "c"}}, on_updated);
  CHECK(errors.empty());  // an error follows later
  REQUIRE(plugin.here.until([&] { return errors.size() == 1; }));
  CHECK(errors[0].starts_with("UpdateContainers: no connection to the runtime"));

  plugin.connect();
  plugin.runtime->close();
  plugin.client->update_containers({{.container_id = "c"}}, on_updated);
  REQUIRE(plugin.here.until([&] { return errors.size() == 2; }));
  CHECK(errors[1].starts_with("UpdateContainers: "));
}

TEST_CASE("an update with a text that is not UTF-8 fails, and the connection stays") {
  ConnectedPlugin plugin(patient());
  plugin.connect();
  std::string error;
  plugin.client->update_containers({{.container_id = "\xFF"}}, [&](auto failed) { error = failed.error().message(); });
  REQUIRE(plugin.here.until([&] { return !error.empty(); }));
  CHECK(error == "UpdateContainers: a text is not UTF-8");
  CHECK(plugin.client->status().state == ConnectionState::active);
}

TEST_CASE("options that a runtime would refuse are errors") {
  CHECK(check({}));
  CHECK(check({.plugin_name = ""}).error().message() == "plugin name '', expected letters, digits and _ . + -");
  CHECK_FALSE(check({.plugin_name = "a b"}));
  CHECK(check({.plugin_index = "5"}).error().message() == "plugin index '5', expected two digits");
  CHECK_FALSE(check({.plugin_index = "5x"}));
  CHECK_FALSE(check({.socket_path = ""}));
  CHECK_FALSE(check({.socket_path = std::string(108, 'x')}));
  CHECK_FALSE(check({.deadline = 0s}));
  CHECK(check({.events = mask_of(Stage::create_container)}));
  CHECK_FALSE(check({.events = mask_of(Stage::update_pod_sandbox)}));  // older runtimes lack it
}
