// SPDX-License-Identifier: Apache-2.0
// A third-party plugin with different isolation layers in each session.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/linux_capability.hpp"
#include "core/host/runner.hpp"
#include "core/log/capture.hpp"
#include "stage.hpp"
#include "test/support/eventually.hpp"

using namespace koord;
using namespace koord::host;
using namespace koord::load;
using namespace koord::scrape;
using namespace koord::service;
using namespace std::chrono_literals;
using config::IsolationLayer;

namespace {

// The layers that the node offers to the next process.
struct Node {
  std::mutex mutex;
  IsolationLevel level;
  std::atomic<bool> ends_process = false;  // once, at the next tick

  void take_away(IsolationLayer layer) {
    std::lock_guard lock(mutex);
    level.missing[layer] = "taken away";
  }
  void give_back_all() {
    std::lock_guard lock(mutex);
    level.missing.clear();
  }
  IsolationLevel now() {
    std::lock_guard lock(mutex);
    return level;
  }
};

class LayeredRunner final : public Runner {
 public:
  explicit LayeredRunner(Node& node) : node_(node) {}

  CallResult create() override {
    level_ = node_.now();
    return {};
  }
  const IsolationLevel& isolation() const override { return level_; }
  CallResult collect(Time, Time) override {
    if (node_.ends_process.exchange(false)) return {.status = KOORD_E_GONE, .text = "ended", .lost = true};
    return {};
  }
  CallResult init() override { return {}; }
  CallResult stop() override { return {}; }
  CallResult destroy() override { return {}; }
  CallResult run(const StopSignal&) override { return {}; }
  CallResult on_event(std::uint32_t, std::uint64_t) override { return {}; }
  CallResult evaluate(Time, Time) override { return {}; }
  CallResult on_applied(std::span<const koord_intent_result>) override { return {}; }
  CallResult url(std::string&) override { return {}; }
  CallResult targets(std::vector<ScrapeTarget>&) override { return {}; }
  CallResult map_metrics(std::string_view, std::span<ScrapedMetric>) override { return {}; }
  CallResult map_series(std::string_view, std::span<ScrapedSeries>) override { return {}; }
  CallResult map_samples(std::string_view, std::span<ScrapedSample>) override { return {}; }
  CallResult handle(const koord_hook_request&, const koord_hook_response&) override { return {}; }

 private:
  Node& node_;
  IsolationLevel level_;
};

class LayeredPlugin final : public LoadedPlugin {
 public:
  explicit LayeredPlugin(Node& node) : node_(node), level_(node.now()) {
    classes_.push_back(
        {.kind = "koord.advisor/1", .name = "layered", .config_schema = {}, .period = 5ms, .ticks = true});
  }
  const std::vector<ClassInfo>& classes() const override { return classes_; }
  bool expendable() const override { return true; }
  const IsolationLevel& isolation() const override { return level_; }
  std::unique_ptr<Runner> make_runner(std::size_t, PluginContext&, const RunnerLimits&) const override {
    return std::make_unique<LayeredRunner>(node_);
  }

 private:
  Node& node_;
  const IsolationLevel level_;
  std::vector<ClassInfo> classes_;
};

struct Layered {
  Node node;
  test::HostStage stage{{"second"},
                        2,
                        [this](const std::string&, const Manifest&, const FileVersion&,
                               const RunnerLimits&) -> Result<std::shared_ptr<const LoadedPlugin>> {
                          return std::shared_ptr<const LoadedPlugin>(std::make_shared<LayeredPlugin>(node));
                        }};

  void apply(std::vector<IsolationLayer> minimum = {}) {
    stage.settings().minimum_isolation = std::move(minimum);
    stage.apply("Second=true");
  }
  PluginStatus status() { return stage.status("second"); }
  std::string isolation() { return status().isolation.value_or(isolation_in_process()).text(); }
  void isolate(config::Isolation isolation) {
    config::PluginSettings settings = stage.settings().defaults;
    settings.isolation = isolation;
    stage.settings().settings["second"] = settings;
  }
  // Ends its process, and waits for a new process.
  bool restarts() {
    const std::uint64_t before = status().restarts;
    node.ends_process = true;
    return test::eventually([&] { return status().restarts > before; }) && stage.await("second", PluginState::running);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Layered, "a layer that a later process lacks is shown as missing, and shown again when it is back") {
  apply();
  REQUIRE(stage.await("second", PluginState::running));
  CHECK(isolation() == "uid+landlock+seccomp+cgroup");
  node.take_away(IsolationLayer::cgroup);
  CHECK(isolation() == "uid+landlock+seccomp+cgroup");
  REQUIRE(restarts());
  CHECK(isolation() == "uid+landlock+seccomp");
  CHECK(status().isolation->missing.at(IsolationLayer::cgroup) == "taken away");
  node.give_back_all();
  REQUIRE(restarts());
  CHECK(isolation() == "uid+landlock+seccomp+cgroup");
}

TEST_CASE_FIXTURE(Layered, "a granted capability that amounts to root is reported once for each change of the grant") {
  log::Capture capture;
  const auto warnings = [&] {
    const std::vector<std::string> lines = capture.lines();
    return std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("WARN") != line.npos &&
             line.find("second is granted CAP_SYS_ADMIN, which amounts to root") != line.npos;
    });
  };
  config::PluginSettings settings = stage.settings().defaults;
  settings.capabilities = *parse_capabilities("CAP_SYS_ADMIN,CAP_BPF");
  settings.files = {"proc/*/io"};
  stage.settings().settings["second"] = settings;
  apply();
  REQUIRE(stage.await("second", PluginState::running));
  CHECK(warnings() == 1);
  CHECK(format_capabilities(status().grants.capabilities) == "CAP_SYS_ADMIN,CAP_BPF");
  CHECK(status().grants.files == std::vector<std::string>{"proc/*/io"});
  REQUIRE(restarts());
  apply();
  CHECK(warnings() == 1);
  stage.settings().settings["second"].capabilities = *parse_capabilities("CAP_BPF");
  apply();
  stage.settings().settings["second"].capabilities = settings.capabilities;
  apply();
  CHECK(warnings() == 2);
}

TEST_CASE_FIXTURE(Layered, "a minimum set by a reload is compared with the plugin's current layers") {
  apply();
  REQUIRE(stage.await("second", PluginState::running));
  apply({IsolationLayer::cgroup});
  CHECK(status().state == PluginState::running);
  apply();
  node.take_away(IsolationLayer::cgroup);
  REQUIRE(restarts());
  apply({IsolationLayer::uid, IsolationLayer::cgroup});
  REQUIRE(stage.await("second", PluginState::refused));
  CHECK(status().reason ==
        "expected the isolation layer 'cgroup' (plugins.minimumIsolation), which is missing: taken away");
  apply({IsolationLayer::uid});
  CHECK_MESSAGE(stage.await("second", PluginState::running), to_string(status().state), ": ", status().reason, "; ",
                to_string(status().instances.at(0).state), ": ", status().instances.at(0).reason);
}

TEST_CASE_FIXTURE(Layered, "isolation: inprocess is refused for a third party's plugin while a minimum is configured") {
  isolate(config::Isolation::in_process);
  apply({IsolationLayer::uid, IsolationLayer::seccomp});
  REQUIRE(stage.await("second", PluginState::refused));
  CHECK(status().reason == "isolation: inprocess has none of plugins.minimumIsolation [uid, seccomp]");
  CHECK_FALSE(status().isolation);  // no code of the file was mapped
  apply();
  REQUIRE(stage.await("second", PluginState::running));
  CHECK(isolation() == "none");
  apply({IsolationLayer::cgroup});
  REQUIRE(stage.await("second", PluginState::refused));
  CHECK(status().reason == "isolation: inprocess has none of plugins.minimumIsolation [cgroup]");
}

TEST_CASE_FIXTURE(Layered,
                  "a plugin that is mapped in the agent stays refused after isolation: process, until it is reloaded") {
  isolate(config::Isolation::in_process);
  apply();
  REQUIRE(stage.await("second", PluginState::running));
  isolate(config::Isolation::process);
  apply({IsolationLayer::cgroup});
  REQUIRE(stage.await("second", PluginState::refused));
  CHECK(status().reason.ends_with("koordctl plugin reload maps it in a process of its own"));
  CHECK(stage.replace("second", "Second=true"));
  CHECK(stage.await("second", PluginState::running));
  CHECK(isolation() == "uid+landlock+seccomp+cgroup");
}

TEST_CASE("the agent's own plugins run in its process, whatever minimum is configured") {
  test::HostStage own{{"second"}};
  own.settings().minimum_isolation = {IsolationLayer::uid};
  own.apply("Second=true");
  CHECK(own.await("second", PluginState::running));
}
