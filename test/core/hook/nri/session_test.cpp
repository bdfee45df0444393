// SPDX-License-Identifier: Apache-2.0
// The protocol without a socket, with a clock of the test.
#include "core/hook/nri/session.hpp"

#include <doctest/doctest.h>

#include "core/base/manual_clock.hpp"
#include "recorded_events.hpp"
#include "runtime_messages.hpp"
#include "test/support/loop_here.hpp"

using namespace koord;
using namespace koord::nri;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

struct BareSession {
  BareSession() {
    streams.open(kPluginStream, [this](std::string_view bytes) { return messages.take(bytes); });
  }

  void take(std::uint32_t call, std::string_view method, std::string payload, Duration timeout = 0s) {
    const Request request = {"nri.pkg.api.v1alpha1.Plugin", std::string(method), std::move(payload), timeout};
    std::string bytes;
    append_message(bytes, kPluginStream, call, MessageType::request, encode(request));
    REQUIRE(session.take(bytes));
  }

  LoopHere here;
  ManualClock clock;
  Options options{.deadline = 1min, .synchronize_deadline = 1min};
  RecordedEvents events;
  Status status;
  std::vector<std::pair<std::uint32_t, Response>> answers;
  std::string failure;
  bool active = false;
  MessageReader messages{[this](const Message& message) -> Result<void> {
    answers.emplace_back(message.call, *read_response(message.body));
    return {};
  }};
  Demultiplexer streams;
  Session session{here.loop,
                  clock,
                  options,
                  events,
                  status,
                  {.send = [this](std::string_view bytes) { REQUIRE(streams.take(bytes)); },
                   .on_active = [this] { active = true; },
                   .on_failure = [this](Error why) { failure = why.message(); }}};
};

}  // namespace

TEST_CASE("a call id that is even or does not grow is refused with code 3") {
  BareSession plugin;
  for (const std::uint32_t call : {5, 6, 5, 3, 7}) plugin.take(call, "Shutdown", "");
  REQUIRE(plugin.answers.size() == 5);
  const Code expected[] = {Code::ok, Code::invalid_argument, Code::invalid_argument, Code::invalid_argument, Code::ok};
  for (int i = 0; i < 5; ++i) {
    CAPTURE(i);
    CHECK(plugin.answers[i].second.status.code == expected[i]);
  }
  CHECK(plugin.answers[1].first == 6);
  CHECK(plugin.status.bad_requests == 3);
}

TEST_CASE("a message that is too large is refused with code 8, so that the runtime sends it in parts") {
  BareSession plugin;
  std::string header;
  append_frame(header, kPluginStream, std::string("\1\0\0\1\0\0\0\1\1\0", 10));
  REQUIRE(plugin.session.take(header));
  const std::string part(1 << 20, 'x');
  for (int i = 0; i < 16; ++i) {
    std::string frame;
    append_frame(frame, kPluginStream, part);
    REQUIRE(plugin.session.take(frame));
  }
  CHECK(plugin.answers.empty());
  std::string last;
  append_frame(last, kPluginStream, "x");
  REQUIRE(plugin.session.take(last));
  REQUIRE(plugin.answers.size() == 1);
  CHECK(plugin.answers[0].second.status.code == Code::resource_exhausted);
  CHECK(plugin.answers[0].second.status.message == "message of 16777217 bytes, expected at most 16777216");
  plugin.take(3, "Shutdown", "");
  CHECK(plugin.answers[1].second.status.code == Code::ok);
}

TEST_CASE("a Synchronize of more pods than any node has is refused") {
  BareSession plugin;
  const std::string thousand = synchronize_request(std::vector<Fill>(1000, pod_named("p")), {}, true);
  for (std::uint32_t call = 1; call <= 7; call += 2) plugin.take(call, "Synchronize", thousand);
  CHECK(plugin.answers.back().second.status.code == Code::ok);
  plugin.take(9, "Synchronize", thousand);
  CHECK(plugin.answers.back().second.status.code == Code::invalid_argument);
  CHECK(plugin.answers.back().second.status.message.starts_with("Synchronize has more than 4096 pods"));
}

TEST_CASE("a Synchronize that is answered after the runtime's limit ends the connection") {
  BareSession plugin;
  plugin.events.answer_synchronize = false;
  plugin.take(1, "Synchronize", synchronize_request({}, {}), 2s);
  plugin.clock.advance(3s);
  plugin.events.synchronize_done({});
  REQUIRE(plugin.here.until([&] { return !plugin.failure.empty(); }));
  CHECK(plugin.failure.starts_with("Synchronize was answered too late"));
  CHECK_FALSE(plugin.active);
}

TEST_CASE("a Synchronize that is answered in time makes the session active") {
  BareSession plugin;
  plugin.events.answer_synchronize = false;
  plugin.take(1, "Synchronize", synchronize_request({}, {}), 2s);
  plugin.clock.advance(2s);
  plugin.events.synchronize_done({});
  REQUIRE(plugin.here.until([&] { return plugin.active; }));
  CHECK(plugin.failure.empty());
  CHECK(plugin.status.of(Stage::synchronize).latency.sum_seconds() == 2);
}

TEST_CASE("the handler never gets all of the time that the runtime waits") {
  BareSession plugin;
  plugin.events.answer_create = false;
  const std::string create = event_request(pod_named("p"), container_of("c", "p"));
  plugin.take(1, "CreateContainer", create, 4ms);
  CHECK(plugin.here.until([&] { return plugin.answers.size() == 1; }));
  CHECK(plugin.status.of(Stage::create_container).timed_out == 1);
}

TEST_CASE("an answer without a call is ignored") {
  BareSession plugin;
  std::string bytes;
  append_message(bytes, kRuntimeStream, 99, MessageType::response, "");
  CHECK(plugin.session.take(bytes));
}

TEST_CASE("a call that the runtime does not answer fails at its timeout") {
  BareSession plugin;
  plugin.options.call_timeout = 1ms;
  std::string error;
  REQUIRE(plugin.session.update_containers({{.container_id = "c"}},
                                           [&](auto failed) { error = failed.error().message(); }));
  REQUIRE(plugin.here.until([&] { return !error.empty(); }));
  CHECK(error == "UpdateContainers: no answer: Connection timed out");
  CHECK(plugin.status.updates_failed == 1);
}
