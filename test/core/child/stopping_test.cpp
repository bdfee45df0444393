// SPDX-License-Identifier: Apache-2.0
// Children that do not end by themselves when they are stopped.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "core/child/child_runner.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/host/instance.hpp"
#include "core/load/file_stamp.hpp"
#include "core/load/manifest.hpp"
#include "core/log/capture.hpp"
#include "test/core/host/stage.hpp"
#include "test/support/child_process.hpp"

using namespace koord;
using namespace koord::host;
using namespace koord::load;
using namespace std::chrono_literals;

namespace {

constexpr const char* kActor = "com.example.actor";
constexpr const char* kStuck = "com.example.stuck";

// Returns the pid of a child; 0 if no child exists.
pid_t a_child() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    if (pid_t pid; list >> pid) return pid;
  }
  return 0;
}

bool has_children() { return a_child() != 0; }

// A plugin with two workers, each in its own process.
struct Starting {
  explicit Starting(std::string_view plugin)
      : stage({plugin}, 2,
              [this](const std::string& path, const Manifest& manifest, const FileVersion& file,
                     const RunnerLimits& limits) {
                return child::load_in_child({std::getenv("KOORD_PLUGIN_HOST"), images}, path, manifest, file, limits);
              }) {}

  // Checks that a stop is immediate. A process that has run gets up to kStopGrace before it is killed.
  void check_immediate_stop() {
    const auto begin = std::chrono::steady_clock::now();
    CHECK(stage.stop(8s));
    CHECK(std::chrono::steady_clock::now() - begin < kStopGrace);
    CHECK_FALSE(has_children());
  }

  child::SnapshotImages images;
  log::Capture lines;
  test::HostStage stage;
};

struct HangingConstructor : Starting {
  HangingConstructor() : Starting("stuck") {
    stage.apply("Stuck=true");
    REQUIRE(stage.await(kStuck, PluginState::loading));
    REQUIRE(test::eventually(has_children));
  }
};

// The actor has two classes. stop() of the first does not return. With one worker, the second has to wait for it.
struct Stubborn {
  child::SnapshotImages images;
  log::Capture lines;
  test::HostStage stage{
      {"actor"},
      1,
      [this](const std::string& path, const Manifest& manifest, const FileVersion& file, const RunnerLimits& limits) {
        return child::load_in_child({std::getenv("KOORD_PLUGIN_HOST"), images}, path, manifest, file, limits);
      }};

  Stubborn() {
    stage.settings().defaults.config_json = R"({"part": "ignore stop"})";
    stage.settings().defaults.period = 100ms;
    stage.apply("Actor=true");
    REQUIRE(stage.await(kActor, PluginState::running));
  }
  bool names_it() const {
    return lines.contains("com.example.actor has not ended within 2s of the stop, its process is ended");
  }
};

}  // namespace

TEST_CASE_FIXTURE(Stubborn, "a child that does not end after the stop is killed, and its plugin is disabled") {
  stage.apply("Actor=false");
  CHECK(stage.await(kActor, PluginState::disabled));
  CHECK_FALSE(has_children());
  CHECK(names_it());
}

TEST_CASE_FIXTURE(Stubborn, "children that do not end do not keep the agent's end and one another waiting") {
  const auto begin = std::chrono::steady_clock::now();
  CHECK(stage.stop(8s));
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(took >= kStopGrace);
  CHECK(took < 7s);
  CHECK_FALSE(has_children());
  CHECK(names_it());
}

TEST_CASE_FIXTURE(HangingConstructor, "a child with a constructor that hangs is killed at once when the agent ends") {
  check_immediate_stop();
}

TEST_CASE_FIXTURE(HangingConstructor, "a child with a constructor that hangs is killed when its plugin is disabled") {
  stage.apply("Stuck=false");
  CHECK(test::eventually([] { return !has_children(); }, 5s));
  CHECK(stage.await(kStuck, PluginState::disabled));
}

TEST_CASE_FIXTURE(HangingConstructor, "a plugin that is enabled again while its start is given up starts again") {
  const pid_t first = a_child();
  stage.apply("Stuck=false");
  stage.apply("Stuck=true");
  CHECK(test::eventually([&] { return has_children() && a_child() != first; }, 5s));
  CHECK(stage.await(kStuck, PluginState::loading));
}

TEST_CASE("a child with an init() that hangs is killed at once when the agent ends, and a line names it") {
  Starting actor("actor");
  actor.stage.settings().defaults.config_json = R"({"part": "hang in init"})";
  actor.stage.apply("Actor=true");
  REQUIRE(actor.stage.await(kActor, PluginState::created));
  actor.check_immediate_stop();
  CHECK(actor.lines.contains("com.example.actor was still starting at the stop, its process is ended"));
}
