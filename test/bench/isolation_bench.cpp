// SPDX-License-Identifier: Apache-2.0
// The cost of isolation. Compares calls for which the agent's CPU time is charged to the plugin with the same calls
// uncharged (IS1, IS2), and the start (IS3) and memory (IS4) of a child with all isolation layers of this node with a
// child that has only the system call filter. Needs root for all layers; prints the missing layers.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "child_fixture.hpp"
#include "core/base/node_roots.hpp"
#include "core/cgroup/layout.hpp"
#include "core/child/child_runner.hpp"
#include "core/child/layers.hpp"
#include "core/child/snapshot_images.hpp"
#include "measure.hpp"

using namespace koord;
using bench::quantile;
using bench::wall_us;

namespace {

constexpr double kMostChargeRatio = 1.02;
constexpr double kMostStartUs = 50'000;
constexpr double kNoise = 0.01;  // noise of a ratio on a quiet machine

std::atomic<bool> charging = true;

using ClockGettime = int (*)(clockid_t, timespec*);
const auto libc_clock_gettime = reinterpret_cast<ClockGettime>(::dlsym(RTLD_NEXT, "clock_gettime"));

}  // namespace

// Replaces libc's function in this program. While `charging` is off, a thread's CPU time does not advance and is read
// without a system call. These reads are the whole cost of charging, except for some additions.
extern "C" int clock_gettime(clockid_t id, timespec* time) noexcept {
  thread_local timespec last{};
  const ClockGettime libc =
      libc_clock_gettime ? libc_clock_gettime : reinterpret_cast<ClockGettime>(::dlsym(RTLD_NEXT, "clock_gettime"));
  if (id != CLOCK_THREAD_CPUTIME_ID) return libc(id, time);
  const int failed = charging.load(std::memory_order_relaxed) ? libc(id, &last) : 0;
  *time = last;
  return failed;
}

namespace {

// The directory of the plugins' state, which a plugin's own user needs.
class StateDirectory {
 public:
  StateDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "koord-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
    std::filesystem::permissions(path_, std::filesystem::perms(0711));
  }
  ~StateDirectory() {
    std::error_code failed;
    std::filesystem::remove_all(path_, failed);
  }
  StateDirectory(const StateDirectory&) = delete;
  StateDirectory& operator=(const StateDirectory&) = delete;
  std::string state() const { return path_ + "/state"; }

 private:
  std::string path_;
};

struct Bench : bench::ActorFixture {
  StateDirectory directory;
  cgroup::Layout layout = *cgroup::Layout::detect(NodeRoots());
  child::SnapshotImages images;
  child::Layers layers{{.state_directory = directory.state(), .first_uid = bench::kFirstUid, .uids = bench::kUids}};
  // Limits that no measurement reaches.
  const host::RunnerLimits limits{.memory_bytes = 256 << 20, .cpu_millis = 4000, .processes = 64, .third_party = true};
  std::shared_ptr<const host::LoadedPlugin> confined = load(&layout, &layers, limits);
  std::shared_ptr<const host::LoadedPlugin> unconfined = load(nullptr, nullptr, {});
  int failures = 0;

  std::shared_ptr<const host::LoadedPlugin> load(const cgroup::Layout* cgroups, child::Layers* all,
                                                 const host::RunnerLimits& bounds) {
    manifest.id = "koord-test-bench";  // the cgroup has this name, too
    return *child::load_in_child({bench::kPluginHost, images, cgroups, all}, bench::kActor, manifest, file, bounds);
  }

  std::unique_ptr<bench::RunningPlugin> start_confined(const std::string& part) {
    return start(*confined, limits, part);
  }
  std::unique_ptr<bench::RunningPlugin> start_unconfined(const std::string& part) {
    return start(*unconfined, {}, part);
  }

  // Measures ticks of one child, alternately charged and uncharged.
  void compare_charging(const char* name, const std::string& part, int pairs, int calls_per_tick) {
    auto running = start_confined(part);
    std::vector<double> charged, uncharged;
    for (int i = 0; i < 2 * pairs; ++i) {
      charging = i % 2 == 0;
      (charging ? charged : uncharged).push_back(wall_us([&] { running->tick(host.clock()); }) / calls_per_tick);
    }
    charging = true;
    // Compares the fastest tenth, which other programs disturb least.
    const double ours = quantile(charged, 0.1), other = quantile(uncharged, 0.1);
    bench::print_ratio(name, ours, "uncharged", other, "us", kMostChargeRatio);
    failures += ours > other * (kMostChargeRatio + kNoise);
  }

  // Measures from the start of the process to the end of its first tick.
  void start_of_a_child() {
    constexpr int kStarts = 200;
    std::vector<double> with, without;
    for (int i = 0; i < kStarts; ++i) {
      std::unique_ptr<bench::RunningPlugin> one, other;
      with.push_back(wall_us([&] { (one = start_confined("count"))->tick(host.clock()); }));
      without.push_back(wall_us([&] { (other = start_unconfined("count"))->tick(host.clock()); }));
    }
    std::printf(
        "IS3 start of a confined child, median %.1f ms, p99 %.1f ms  unconfined %.1f ms, %.1f ms  ratio %.2f  target <= %.0f ms\n",
        quantile(with, 0.5) / 1e3, quantile(with, 0.99) / 1e3, quantile(without, 0.5) / 1e3,
        quantile(without, 0.99) / 1e3, quantile(with, 0.5) / quantile(without, 0.5), kMostStartUs / 1e3);
    failures += quantile(with, 0.99) > kMostStartUs;
  }

  void memory_of_a_child() {
    auto with = start_confined("count"), without = start_unconfined("count");
    for (auto* child : {with.get(), without.get()}) child->tick(host.clock());
    for (const char* kind : {"Rss", "Private_"}) {
      const double confined_mib = bench::memory_mib(with->process(), kind),
                   other_mib = bench::memory_mib(without->process(), kind);
      std::printf("IS4 memory of an idle child, %-9s             ours %10.2f MiB  unconfined %10.2f MiB  ratio %6.2f\n",
                  kind, confined_mib, other_mib, confined_mib / other_mib);
    }
  }
};

}  // namespace

int main() {
  Bench bench;
  std::printf("layers: %s\n", bench.confined->isolation().text().c_str());
  bench.compare_charging("IS1 request of a child to the agent", "ask the clock", 3000, 100);
  bench.compare_charging("IS2 tick of 64 samples", "batch", 50'000, 1);
  bench.start_of_a_child();
  bench.memory_of_a_child();
  return bench.failures == 0 ? 0 : 1;
}
