// SPDX-License-Identifier: Apache-2.0
// The runtime's events and the handlers' answers.
#include <doctest/doctest.h>

#include <thread>

#include "connected_plugin.hpp"

using namespace koord;
using namespace koord::nri;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

const std::string kCreate = event_request(pod_named("p"), container_of("c", "p"));

}  // namespace

// Runtimes since NRI 0.7 send parts.
TEST_CASE("the parts of a Synchronize are one event, and updates are in the last answer only") {
  ConnectedPlugin plugin(patient());
  plugin.events.synchronize_answer.updates = {{.container_id = "c1", .resources = {.cpu_shares = 9}}};
  plugin.connect(containerd_1_7({synchronize_request({pod_named("p1"), pod_named("p2")}, {}, true),
                                 synchronize_request({pod_named("p3")}, {container_of("c1", "p1")}, true),
                                 synchronize_request({}, {container_of("c2", "p3")})}));
  CHECK(std::count(plugin.events.lines.begin(), plugin.events.lines.end(), "Synchronize") == 1);
  REQUIRE(plugin.events.pods.size() == 3);
  CHECK(plugin.events.pods[2].id == "p3");
  REQUIRE(plugin.events.containers.size() == 2);
  CHECK(plugin.events.containers[1].id == "c2");
  const auto& answers = plugin.runtime->synchronize_answers;
  CHECK(answers.at(0).payload == encode_more());
  CHECK(answers.at(1).payload == encode_more());
  CHECK(answers.at(2).payload == *encode_updates(plugin.events.synchronize_answer.updates));
}

TEST_CASE("parts of a Synchronize that was cut off do not get into the next one") {
  ConnectedPlugin plugin(patient());
  plugin.connect(containerd_1_7({synchronize_request({pod_named("p1")}, {})}));
  plugin.ask("Synchronize", synchronize_request({pod_named("cut-off")}, {}, true));
  plugin.runtime->close();
  REQUIRE(plugin.here.until([&] { return plugin.client->status().connections == 2; }));
  REQUIRE(plugin.events.pods.size() == 1);
  CHECK(plugin.events.pods[0].id == "p1");
}

TEST_CASE("events that come as StateChange reach the handler, and are answered with nothing") {
  ConnectedPlugin plugin(patient());
  plugin.connect();
  plugin.events.lines.clear();
  for (const std::uint32_t event : {1, 2, 3})
    CHECK(plugin.ask("StateChange", state_change(event, pod_named("p"))).payload.empty());
  for (const std::uint32_t event : {5, 6, 7, 9, 11})
    plugin.ask("StateChange", state_change(event, pod_named("p"), container_of("c", "p")));
  CHECK(plugin.events.lines == std::vector<std::string>{"RunPodSandbox p", "StopPodSandbox p", "RemovePodSandbox p",
                                                        "PostCreateContainer p c", "StartContainer p c",
                                                        "PostStartContainer p c", "PostUpdateContainer p c",
                                                        "RemoveContainer p c"});
}

// Runtimes since NRI 0.12 send these methods.
TEST_CASE("events that come as methods of their own reach the same handler") {
  ConnectedPlugin plugin(patient());
  plugin.connect();
  plugin.events.lines.clear();
  for (const char* method :
       {"RunPodSandbox", "StopPodSandbox", "RemovePodSandbox", "PostUpdatePodSandbox", "UpdatePodSandbox"})
    CHECK(plugin.ask(method, event_request(pod_named("p"))).status.code == Code::ok);
  for (const char* method : {"PostCreateContainer", "StartContainer", "RemoveContainer", "StopContainer"})
    CHECK(plugin.ask(method, kCreate).status.code == Code::ok);
  CHECK(plugin.events.lines == std::vector<std::string>{"RunPodSandbox p", "StopPodSandbox p", "RemovePodSandbox p",
                                                        "PostUpdatePodSandbox p", "UpdatePodSandbox p",
                                                        "PostCreateContainer p c", "StartContainer p c",
                                                        "RemoveContainer p c", "StopContainer p c"});
}

TEST_CASE("a method or service that the client does not have is answered with code 12") {
  ConnectedPlugin plugin(patient());
  plugin.connect();
  const Response validate = plugin.ask("ValidateContainerAdjustment", kCreate);
  CHECK(validate.status.code == Code::unimplemented);
  CHECK(validate.status.message == "nri.pkg.api.v1alpha1.Plugin/ValidateContainerAdjustment is unknown");
  const std::uint32_t call = plugin.runtime->call({.service = "other", .method = "CreateContainer"});
  REQUIRE(plugin.here.until([&] { return plugin.runtime->answer_to(call); }));
  CHECK(plugin.runtime->answer_to(call)->status.code == Code::unimplemented);
  CHECK(plugin.client->status().unimplemented == 2);
}

TEST_CASE("Shutdown is answered") {
  ConnectedPlugin plugin(patient());
  plugin.connect();
  CHECK(plugin.ask("Shutdown", "").status.code == Code::ok);
}

TEST_CASE("the answer of a handler is the answer to the runtime") {
  ConnectedPlugin plugin(patient());
  plugin.events.create_answer = {.adjustment = {.env = {{"A", "1"}}, .resources = {.cpu_shares = 300, .cpus = "0"}},
                                 .updates = {{.container_id = "other", .resources = {.cpu_shares = 2}}}};
  plugin.events.update_answer.updates = {{.container_id = "c", .resources = {.cpu_shares = 4}}};
  plugin.connect();
  CHECK(plugin.ask("CreateContainer", kCreate).payload ==
        *encode_adjustment(plugin.events.create_answer.adjustment, plugin.events.create_answer.updates));
  const auto new_shares = [](Writer& resources) {
    resources.message(2, [](Writer& cpu) { cpu.wrapped(1, std::optional<std::uint64_t>(77)); });
  };
  CHECK(plugin.ask("UpdateContainer", event_request(pod_named("p"), container_of("c", "p"), new_shares)).payload ==
        *encode_updates(plugin.events.update_answer.updates));
  CHECK(plugin.events.new_resources.cpu_shares == 77);
}

TEST_CASE("a refusal is an error with its text") {
  ConnectedPlugin plugin(patient());
  plugin.events.create_answer.refusal = Refusal{"hook-gpu: no device is free"};
  plugin.events.pod_answer.refusal = Refusal{"hook-network: \xFF"};
  plugin.events.update_answer.refusal = Refusal{"no"};
  plugin.connect();
  const Response create = plugin.ask("CreateContainer", kCreate);
  CHECK(create.status.code == Code::unknown);
  CHECK(create.status.message == "hook-gpu: no device is free");
  CHECK(create.payload.empty());
  CHECK(plugin.ask("StateChange", state_change(1, pod_named("p"))).status.message == "hook-network: ?");
  CHECK(plugin.ask("UpdateContainer", kCreate).status.message == "no");
  CHECK(plugin.client->status().of(Stage::create_container).refused == 1);
}

TEST_CASE("Synchronize cannot be refused") {
  ConnectedPlugin plugin(patient());
  plugin.events.synchronize_answer.refusal = Refusal{"no"};
  plugin.connect();
  CHECK(plugin.runtime->synchronize_answers.at(0).status.code == Code::ok);
}

TEST_CASE("a handler that does not answer in time: the runtime gets no change, a late answer only counts") {
  ConnectedPlugin plugin({.deadline = 1ms, .synchronize_deadline = 1min});
  plugin.events.answer_create = false;
  plugin.connect();
  const Response answer = plugin.ask("CreateContainer", kCreate);
  CHECK(answer.status.code == Code::ok);
  CHECK(answer.payload.empty());
  const StageCounters& counters = plugin.client->status().of(Stage::create_container);
  CHECK(counters.timed_out == 1);
  CHECK(counters.late == 0);

  const std::size_t frames = plugin.runtime->frame_sizes.size();
  plugin.events.create_done.at(0)({.adjustment = {.env = {{"LATE", "1"}}}});
  REQUIRE(plugin.here.until([&] { return counters.late == 1; }));
  CHECK(plugin.events.lines.back() == "late CreateContainer c");
  plugin.ask("StateChange", state_change(2, pod_named("p")));
  CHECK(plugin.runtime->frame_sizes.size() == frames + 1);  // only that answer, which has no body
}

TEST_CASE("a handler that does not answer Synchronize in time gets events all the same") {
  ConnectedPlugin plugin({.deadline = 1min, .synchronize_deadline = 1ms});
  plugin.events.answer_synchronize = false;
  plugin.connect();
  CHECK(plugin.client->status().of(Stage::synchronize).timed_out == 1);
  CHECK(plugin.ask("CreateContainer", kCreate).status.code == Code::ok);
}

TEST_CASE("a silent handler holds up no other call") {
  ConnectedPlugin plugin(patient());
  plugin.events.answer_create = false;
  plugin.connect();
  const std::uint32_t call = plugin.runtime->call("CreateContainer", kCreate);
  CHECK(plugin.ask("StateChange", state_change(2, pod_named("p"))).status.code == Code::ok);
  CHECK_FALSE(plugin.runtime->answer_to(call));
  plugin.events.create_done.at(0)({});
  CHECK(plugin.here.until([&] { return plugin.runtime->answer_to(call) != nullptr; }));
}

TEST_CASE("a handler may answer from another thread") {
  ConnectedPlugin plugin(patient());
  plugin.events.answer_create = false;
  plugin.connect();
  const std::uint32_t call = plugin.runtime->call("CreateContainer", kCreate);
  REQUIRE(plugin.here.until([&] { return !plugin.events.create_done.empty(); }));
  std::thread([done = plugin.events.create_done[0]] { done({.adjustment = {.env = {{"A", "1"}}}}); }).join();
  REQUIRE(plugin.here.until([&] { return plugin.runtime->answer_to(call) != nullptr; }));
  CHECK(plugin.runtime->answer_to(call)->payload == *encode_adjustment({.env = {{"A", "1"}}}, {}));
}

TEST_CASE("an answer after the connection has ended has no effect") {
  ConnectedPlugin plugin(patient());
  plugin.events.answer_create = false;
  plugin.connect();
  plugin.runtime->call("CreateContainer", kCreate);
  REQUIRE(plugin.here.until([&] { return !plugin.events.create_done.empty(); }));
  plugin.runtime->close();
  REQUIRE(plugin.here.until([&] { return plugin.client->status().connections == 2; }));
  plugin.events.create_done[0]({});
  CHECK(plugin.ask("StateChange", state_change(2, pod_named("p"))).status.code == Code::ok);
  CHECK(plugin.client->status().of(Stage::create_container).late == 0);
}

TEST_CASE("an answer that cannot be sent becomes no change, and is counted") {
  ConnectedPlugin plugin(patient());
  plugin.events.create_answer.adjustment.env = {{"A", "\xFF"}};
  plugin.connect();
  CHECK(plugin.ask("CreateContainer", kCreate).payload.empty());
  plugin.events.create_answer.adjustment.env = {{"A", std::string(5 << 20, 'x')}};
  CHECK(plugin.ask("CreateContainer", kCreate).payload.empty());
  CHECK(plugin.client->status().of(Stage::create_container).invalid == 2);
}

TEST_CASE("an event that cannot be read changes nothing and fails no pod") {
  ConnectedPlugin plugin(patient());
  plugin.connect();
  plugin.events.lines.clear();
  const Response answer = plugin.ask("CreateContainer", "\x0A\5");
  CHECK(answer.status.code == Code::ok);
  CHECK(answer.payload.empty());
  CHECK(plugin.client->status().last_error.starts_with("CreateContainerRequest, field 1: a value is cut off"));
  CHECK(plugin.ask("StateChange", state_change(99, pod_named("p"))).status.code == Code::ok);
  CHECK(plugin.events.lines.empty());
  CHECK(plugin.client->status().bad_requests == 2);
  CHECK(plugin.client->status().state == ConnectionState::active);
}

TEST_CASE("a Configure or Synchronize that cannot be read is refused, and the connection stays") {
  ConnectedPlugin plugin(patient());
  plugin.connect();
  for (const char* method : {"Configure", "Synchronize"}) {
    const Response answer = plugin.ask(method, "\x12\5");
    CHECK(answer.status.code == Code::invalid_argument);
    CHECK(answer.status.message.starts_with(method));
  }
  CHECK(plugin.client->status().state == ConnectionState::active);
}
