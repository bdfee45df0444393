// SPDX-License-Identifier: Apache-2.0
// Confined: the plugin "prober" in a process with all isolation layers of this kernel, or without some. The plugin
// tries forbidden operations and reports the results as metrics. Needs root.
#pragma once

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "core/base/linux_capability.hpp"
#include "core/child/child_runner.hpp"
#include "core/child/landlock.hpp"
#include "core/child/layers.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/load/file_stamp.hpp"
#include "core/load/manifest.hpp"
#include "test/core/host/stage.hpp"

namespace koord::test {

using namespace koord::host;
using namespace koord::load;
using namespace std::chrono_literals;

inline constexpr const char* kProber = "com.example.prober";
inline constexpr std::uint32_t kFirstUid = 2'000'100'000;

// A directory that is removed with the object.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "koord-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Scratch() {
    std::error_code failed;
    std::filesystem::remove_all(path_, failed);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Confined {
  Scratch state;
  child::SnapshotImages images;
  child::Layers layers;
  HostStage stage{
      {"prober"},
      4,
      [this](const std::string& path, const Manifest& manifest, const FileVersion& file, const RunnerLimits& limits) {
        return child::load_in_child({std::getenv("KOORD_PLUGIN_HOST"), images, nullptr, &layers}, path, manifest, file,
                                    limits);
      }};

  explicit Confined(std::function<void(child::Layers::Options&)> change = {}) : layers(options(state.path(), change)) {
    ::chmod(state.path().c_str(), 0711);
  }
  ~Confined() { stage.stop(); }

  static child::Layers::Options options(const std::string& directory,
                                        const std::function<void(child::Layers::Options&)>& change) {
    child::Layers::Options options{.state_directory = directory + "/state", .first_uid = kFirstUid, .uids = 10};
    if (change) change(options);
    return options;
  }

  // Makes "FOLDER/file" next to the state directory, readable for every user.
  void write_file(const std::string& folder) {
    const std::string path = state.path() + "/" + folder;
    std::filesystem::create_directory(path);
    std::ofstream(path + "/file") << "content";
    REQUIRE(::chmod(path.c_str(), 0755) == 0);
    REQUIRE(::chmod((path + "/file").c_str(), 0644) == 0);
  }
  void start(std::function<void(config::PluginSettings&)> change = {}) {
    config::PluginSettings settings = stage.settings().defaults;
    if (change) change(settings);
    stage.settings().settings[kProber] = settings;
    stage.apply("Prober=true");
  }
  bool runs() {
    if (!stage.await(kProber, PluginState::running)) return false;
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < end)
      if (stage.host().value("probe_death_signal")) return true;
    return false;
  }
  double probe(const std::string& name) { return stage.host().value("probe_" + name).value_or(-1); }
  std::string isolation() { return stage.status(kProber).isolation.value_or(isolation_in_process()).text(); }
};

inline bool has_landlock() { return child::landlock_abi().has_value(); }

inline void grant(config::PluginSettings& settings, const char* capabilities) {
  settings.capabilities = *parse_capabilities(capabilities);
}

}  // namespace koord::test
