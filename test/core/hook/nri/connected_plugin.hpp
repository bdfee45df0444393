// SPDX-License-Identifier: Apache-2.0
// A client and a fake runtime on one loop, connected through a real socket in a separate folder.
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/hook/nri/client.hpp"
#include "fake_runtime.hpp"
#include "recorded_events.hpp"
#include "runtime_messages.hpp"
#include "test/support/loop_here.hpp"

namespace koord::test {

struct NriFolder {
  NriFolder() { REQUIRE(::mkdtemp(path.data())); }
  ~NriFolder() { std::filesystem::remove_all(path); }
  NriFolder(const NriFolder&) = delete;
  NriFolder& operator=(const NriFolder&) = delete;

  std::string socket() const { return path + "/nri.sock"; }

  std::string path = "/tmp/koord-test-nri-XXXXXX";
};

inline FakeRuntime::Script containerd_1_7(std::vector<std::string> synchronize = {synchronize_request({}, {})}) {
  return {.configure = configure_request("containerd", "1.7.24"), .synchronize = std::move(synchronize)};
}

struct ConnectedPlugin {
  // Makes a connection with a handler deadline that even the slowest machine meets.
  explicit ConnectedPlugin(nri::Options chosen = {}) {
    options = std::move(chosen);
    options.socket_path = folder.socket();
    options.first_retry = std::chrono::milliseconds(1);
    options.longest_retry = std::chrono::milliseconds(20);
    client = std::make_unique<nri::Client>(here.loop, clock, options, events);
  }

  void run_runtime(FakeRuntime::Script script = containerd_1_7()) {
    runtime = std::make_unique<FakeRuntime>(here.loop, folder.socket(), std::move(script));
  }

  bool until_active() {
    return here.until(
        [&] { return client->status().state == nri::ConnectionState::active && runtime->is_synchronized(); });
  }

  // Connects to a runtime with this script.
  void connect(FakeRuntime::Script script = containerd_1_7()) {
    run_runtime(std::move(script));
    client->start();
    REQUIRE(until_active());
  }

  // Sends a call of the runtime. Returns the answer.
  nri::Response ask(std::string_view method, std::string payload) {
    const std::uint32_t call = runtime->call(method, std::move(payload));
    REQUIRE(here.until([&] { return runtime->answer_to(call) != nullptr; }));
    return *runtime->answer_to(call);
  }

  NriFolder folder;
  LoopHere here;
  SystemClock clock;
  RecordedEvents events;
  nri::Options options;
  std::unique_ptr<nri::Client> client;
  std::unique_ptr<FakeRuntime> runtime;
};

// Options for tests in which only a handler that never answers may miss the deadline.
inline nri::Options patient() {
  return {.deadline = std::chrono::minutes(1), .synchronize_deadline = std::chrono::minutes(1)};
}

}  // namespace koord::test
