// SPDX-License-Identifier: Apache-2.0
// Children that do not end by themselves when they are stopped.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/child/child_home.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/host/file_stamp.hpp"
#include "core/host/instance.hpp"
#include "core/host/manifest.hpp"
#include "core/log/capture.hpp"
#include "test/core/host/stage.hpp"

using namespace koord;
using namespace koord::host;
using namespace std::chrono_literals;

namespace {

constexpr const char* kActor = "com.example.actor";

bool has_children() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    if (pid_t pid; list >> pid) return true;
  }
  return false;
}

// The actor has two classes. Only stop() of the first one does not return; with one worker the other has to wait for it.
struct Stubborn {
  child::SnapshotImages images;
  log::Capture lines;
  test::HostStage stage{{"actor"}, 1, [this](const std::string& path, const Manifest& manifest, const FileStamp& file,
                                             const HomeLimits& limits) {
                          return child::load_in_child({std::getenv("KOORD_PLUGIN_HOST"), images}, path, manifest, file, limits);
                        }};

  Stubborn() {
    stage.settings().defaults.config_json = R"({"part": "ignore stop"})";
    stage.settings().defaults.period = 100ms;
    stage.apply("Actor=true");
    REQUIRE(stage.await(kActor, PluginState::running));
  }
  bool names_it() const { return lines.contains("com.example.actor has not ended within 2s of the stop, its process is ended"); }
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
