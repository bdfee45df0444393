// SPDX-License-Identifier: Apache-2.0
// The real host starts and stops each built plugin many times in one process, and the plugin must release all
// resources. KOORD_PLUGINS lists the plugins' files, separated by colons.
#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/node_roots.hpp"
#include "core/base/parse.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/event/worker_pool.hpp"
#include "core/host/instance.hpp"
#include "core/knob/governor.hpp"
#include "core/load/grants.hpp"
#include "core/workshop/loading.hpp"
#include "core/workshop/memory_host.hpp"
#include "test/support/child_process.hpp"

using namespace koord;
using namespace std::chrono_literals;
using host::PluginState;

namespace {

// Resources that a session may fail to release.
struct Belongings {
  std::size_t threads, descriptors, mappings;
};

std::size_t entries(const char* directory) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

Belongings belongings() {
  std::ifstream maps("/proc/self/maps");
  return {entries("/proc/self/task"), entries("/proc/self/fd"),
          static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'))};
}

// Lists the file of each open descriptor, for the message of a failure.
std::string open_files() {
  std::string files;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed;
    files += " " + entry.path().filename().string() + "=" + std::filesystem::read_symlink(entry, closed).string();
  }
  return files;
}

// All classes of a plugin with the real services, without a supervisor.
class ClassCycles {
 public:
  ClassCycles(const std::string& file, config::Isolation isolation) : piece_(*workshop::open_plugin(file)) {
    auto loaded = workshop::load(piece_, {isolation, std::getenv("KOORD_PLUGIN_HOST"), images_});
    REQUIRE_MESSAGE(loaded, loaded.error().message());
    for (std::size_t i = 0; i < (*loaded)->classes().size(); ++i) instances_.push_back(make(*loaded, i));
  }

  // Starts and stops each class once. If that fails, returns false with the reason in `problem`.
  bool cycle() {
    for (const auto& instance : instances_) {
      instance->start();
      if (!reach(*instance,
                 [](PluginState state) { return state == PluginState::running || state == PluginState::absent; }))
        return false;
      if (instance->state() == PluginState::absent) continue;
      instance->tick();
      instance->stop();
      if (!reach(*instance, [](PluginState state) { return state == PluginState::stopped; })) return false;
    }
    return true;
  }
  std::string problem;

 private:
  std::shared_ptr<host::Instance> make(const std::shared_ptr<const host::LoadedPlugin>& loaded,
                                       std::size_t class_index) {
    const std::vector<std::string> granted = load::granted_services(loaded->classes()[class_index].kind);
    return host::Instance::make(
        {.plugin_id = piece_.manifest.id,
         .plugin = loaded,
         .class_index = class_index,
         .make_context =
             [this, granted](const std::string& config_json) {
               return memory_host_.make_context(piece_.manifest.id, {granted.begin(), granted.end()}, config_json);
             },
         .pool = pool_,
         .clock = clock_,
         .plans = governor_,
         .on_change =
             [this](PluginState) {
               std::lock_guard lock(mutex_);
               changed_.notify_all();
             }},
        {.deadline = 30s, .wedged_after = 60s});
  }

  bool reach(const host::Instance& instance, bool (*wanted)(PluginState)) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 30s, [&] { return wanted(instance.state()) || instance.state() == PluginState::failed; });
    if (wanted(instance.state())) return true;
    problem = std::string(to_string(instance.state())) + ": " + instance.status().reason;
    return false;
  }

  SystemClock clock_;
  workshop::MemoryHost memory_host_{NodeRoots(), clock_, "node"};
  knob::MemoryOriginals originals_;
  knob::Governor governor_{clock_, memory_host_.cgroups().layout(), NodeRoots(), originals_};
  child::SnapshotImages images_;
  workshop::OpenedPlugin piece_;
  std::mutex mutex_;
  std::condition_variable changed_;
  event::WorkerPool pool_{2};
  std::vector<std::shared_ptr<host::Instance>> instances_;
};

// The C library creates mappings of stacks and arenas when threads come and go. One leaked mapping per session would
// exceed this number.
constexpr std::size_t kArenas = 8;

// A joined thread, and the last descriptor of a session, may stay in /proc for a moment.
bool settles_at(const Belongings& wanted, Belongings& found) {
  return test::eventually([&] {
    found = belongings();
    return found.threads <= wanted.threads && found.descriptors <= wanted.descriptors &&
           found.mappings <= wanted.mappings + kArenas;
  });
}

void check_cycles(config::Isolation isolation, int first, int then) {
  for (std::string_view file : split(std::getenv("KOORD_PLUGINS"), ':')) {
    CAPTURE(file);
    ClassCycles cycles{std::string(file), isolation};
    // After the first sessions the C library has most of its arenas and stacks.
    for (int i = 0; i < first; ++i) REQUIRE_MESSAGE(cycles.cycle(), cycles.problem);
    const Belongings before = belongings();
    for (int i = 0; i < then; ++i) REQUIRE_MESSAGE(cycles.cycle(), cycles.problem);
    Belongings after{};
    const bool settled = settles_at(before, after);
    INFO(before.threads, " threads, ", before.descriptors, " descriptors, ", before.mappings, " mappings before");
    CHECK_MESSAGE(settled, after.threads, " threads, ", after.descriptors, " descriptors, ", after.mappings,
                  " mappings after; open:", open_files());
  }
}

}  // namespace

TEST_CASE(
    "acceptance 19: a thousand starts and stops of each plugin leave no thread, no descriptor and no mapping behind") {
  check_cycles(config::Isolation::in_process, 100, 1000);
}

TEST_CASE("acceptance 19: a hundred processes of each plugin leave no thread, no descriptor and no mapping behind") {
  check_cycles(config::Isolation::process, 10, 100);
}
