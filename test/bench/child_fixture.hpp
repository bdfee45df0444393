// SPDX-License-Identifier: Apache-2.0
// Fixture for benchmarks of child processes: starts the test plugin `actor` on a fake node and measures its calls.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/host/runner.hpp"
#include "core/load/file_stamp.hpp"
#include "core/load/manifest.hpp"
#include "core/service/plugin_context.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/fake_node.hpp"

namespace koord::bench {

inline const std::string kBuild = std::getenv("KOORD_BUILD") ? std::getenv("KOORD_BUILD") : ".";
inline const std::string kPluginHost = kBuild + "/core/plugin_host/koord-plugin-host";
inline const std::string kActor = kBuild + "/test/core/child/actor.so";
// User databases usually have no entries in this range.
inline constexpr std::uint32_t kFirstUid = 2'000'100'000, kUids = 10;

template <class Work>
double wall_us(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

inline double quantile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(p * static_cast<double>(values.size() - 1))];
}

// Returns the process ids of all children of this process.
inline std::vector<int> child_processes() {
  std::vector<int> pids;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (int pid; list >> pid;) pids.push_back(pid);
  }
  return pids;
}

// Returns the sum of the lines of /proc/PID/smaps_rollup with this prefix, in MiB.
inline double memory_mib(int pid, const std::string& prefix) {
  std::ifstream rollup("/proc/" + std::to_string(pid) + "/smaps_rollup");
  double kib = 0;
  for (std::string line; std::getline(rollup, line);)
    if (line.starts_with(prefix)) kib += std::strtod(line.substr(line.find(':') + 1).c_str(), nullptr);
  return kib / 1024;
}

// An initialised instance that can tick.
class RunningPlugin {
 public:
  RunningPlugin(std::unique_ptr<service::PluginContext> context, const host::LoadedPlugin& plugin,
                const host::RunnerLimits& limits)
      : context_(std::move(context)), runner_(plugin.make_runner(0, *context_, limits)) {
    if (!runner_->create().ok() || !runner_->init().ok()) std::abort();
  }
  ~RunningPlugin() { runner_->destroy(); }
  RunningPlugin(const RunningPlugin&) = delete;
  RunningPlugin& operator=(const RunningPlugin&) = delete;

  int process() const { return runner_->process(); }
  void tick(const Clock& clock) { runner_->collect(clock.now(), clock.now() + std::chrono::seconds(1)); }

 private:
  std::unique_ptr<service::PluginContext> context_;
  std::unique_ptr<host::Runner> runner_;
};

struct ActorFixture {
  test::FakeNode node;
  test::FakeHost host{node};
  load::Manifest manifest = *load::read_manifest(kActor);
  FileVersion file = *load::stamp_of(kActor);

  // Starts it with this role of test/core/child/plugins/actor.cpp.
  std::unique_ptr<RunningPlugin> start(const host::LoadedPlugin& plugin, const host::RunnerLimits& limits,
                                       const std::string& part) {
    return std::make_unique<RunningPlugin>(
        host.make_context(manifest.id, {"koord.metrics/1", "koord.config/1", "koord.state/1", "koord.clock/1"},
                          R"({"part": ")" + part + R"("})"),
        plugin, limits);
  }
};

}  // namespace koord::bench
