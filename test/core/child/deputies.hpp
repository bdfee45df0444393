// SPDX-License-Identifier: Apache-2.0
// Deputies: two plugins with a strategy and a hook each (plugins/deputy.cpp), with the real plugin manager, in their
// own processes or in this one.
#pragma once

#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

#include "core/child/child_runner.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/load/file_stamp.hpp"
#include "core/load/manifest.hpp"
#include "test/core/host/stage.hpp"
#include "test/support/eventually.hpp"

namespace koord::test {

inline constexpr const char* kA = "com.example.deputy-a";
inline constexpr const char* kB = "com.example.deputy-b";

struct Deputies {
  child::SnapshotImages images;
  HostStage stage{
      {"deputy-a", "deputy-b"}, 4, [this](const auto&... loaded) { return child::load_in_child(home(), loaded...); }};

  child::Children home() {
    return {std::getenv("KOORD_PLUGIN_HOST"), images, &stage.host().services().cgroups.layout()};
  }
  ~Deputies() { stage.stop(); }

  using Change = std::function<void(config::PluginSettings&)>;
  // Sets the configuration. It takes effect with begin().
  void configure(const char* id, const std::string& config_json, const Change& change = {}) {
    config::PluginSettings settings = stage.settings().defaults;
    settings.period = std::chrono::milliseconds(100);  // long enough for a slow machine
    settings.deadline = std::chrono::milliseconds(100);
    settings.isolation = isolation;
    settings.config_json = config_json;
    settings.cgroups = {"be"};  // a cgroup that belongs to no pod
    if (change) change(settings);
    stage.settings().settings[id] = settings;
  }
  bool begin(const char* gates = "Deputya=true,Deputyb=true") {
    stage.apply(gates);
    return eventually([&] {
             return stage.status(kA).state == host::PluginState::running || !std::string(gates).starts_with("Deputya");
           }) &&
           eventually([&] {
             return stage.status(kB).state == host::PluginState::running || std::string(gates) == "Deputya=true";
           });
  }

  config::Isolation isolation = config::Isolation::process;
};

inline constexpr config::Isolation kIsolations[] = {config::Isolation::process, config::Isolation::in_process};

}  // namespace koord::test
