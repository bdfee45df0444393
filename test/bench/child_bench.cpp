// SPDX-License-Identifier: Apache-2.0
// The cost of a confined process for a plugin: a tick of 64 samples (CH1) compared with a tick in this process, and
// with a bare exchange of two messages with a different process. They are measured one after the other, because both
// consist mostly of waking an idle CPU. Measures a restart after a crash (CH2), thirty such plugins at 1 Hz (CH3), and
// the memory of an idle plugin (CH4), too.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "child_fixture.hpp"
#include "core/child/child_runner.hpp"
#include "core/child/layers.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/host/in_process_runner.hpp"
#include "measure.hpp"

using namespace koord;
using bench::quantile;
using bench::wall_us;

namespace {

const std::string kScraper = bench::kBuild + "/test/core/child/scraper.so";

const host::RunnerLimits kThirdParty{.third_party = true};

// A process that sends back each message.
class Echo {
 public:
  Echo() {
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ != 0) {
      ::close(ends_[1]);
      return;
    }
    ::close(ends_[0]);
    char message[32];
    for (ssize_t n; (n = ::read(ends_[1], message, sizeof message)) > 0;)
      if (::write(ends_[1], message, static_cast<std::size_t>(n)) != n) break;
    ::_exit(0);
  }
  ~Echo() {
    ::close(ends_[0]);
    ::waitpid(pid_, nullptr, 0);
  }
  void exchange() {
    char message[32] = {};
    if (::write(ends_[0], message, sizeof message) < 0 || ::read(ends_[0], message, sizeof message) < 0) std::abort();
  }

 private:
  int ends_[2];
  pid_t pid_;
};

struct Bench : bench::ActorFixture {
  child::SnapshotImages images;
  // A separate user and Landlock, if this machine supports them.
  child::Layers layers{{.first_uid = bench::kFirstUid, .uids = bench::kUids}};
  std::shared_ptr<const host::LoadedPlugin> in_child =
      *child::load_in_child({bench::kPluginHost, images, nullptr, &layers}, bench::kActor, manifest, file, kThirdParty);
  std::shared_ptr<const host::LoadedPlugin> here = *host::load_in_process(bench::kActor, manifest, file);

  std::unique_ptr<bench::RunningPlugin> start(const host::LoadedPlugin& plugin, const std::string& part = "batch") {
    return ActorFixture::start(plugin, kThirdParty, part);
  }

  std::vector<double> ticks(const host::LoadedPlugin& plugin, std::vector<double>* exchanges = nullptr) {
    auto running = start(plugin);
    Echo echo;
    std::vector<double> took;
    for (int i = 0; i < 5000; ++i) {
      took.push_back(wall_us([&] { running->tick(host.clock()); }));
      if (exchanges != nullptr) exchanges->push_back(wall_us([&] { echo.exchange(); }));
    }
    return took;
  }

  void tick_of_64() {
    std::vector<double> exchanges, child = ticks(*in_child, &exchanges), in_process = ticks(*here);
    print_line("CH1 tick of 64 samples, median", quantile(child, 0.5), "in this process", quantile(in_process, 0.5));
    print_line("CH1 tick of 64 samples, median", quantile(child, 0.5), "bare exchange", quantile(exchanges, 0.5));
    print_line("CH1 tick of 64 samples, p99 (target 30 us)", quantile(child, 0.99), "bare exchange",
               quantile(exchanges, 0.99));
  }

  // Measures the time from a crash to the first tick of the next session, without the supervisor's delay.
  void restart() {
    std::vector<double> took;
    for (int i = 0; i < 100; ++i) {
      auto crashing = start(*in_child, "segv");
      took.push_back(wall_us([&] {
        crashing->tick(host.clock());
        crashing.reset();
        start(*in_child)->tick(host.clock());
      }));
    }
    std::printf("CH2 restart after a crash, median %.1f ms, p99  %8.1f ms  target <= 20\n", quantile(took, 0.5) / 1e3,
                quantile(took, 0.99) / 1e3);
  }

  void thirty_at_1_hz() {
    constexpr int kPlugins = 30, kTicks = 200;
    std::vector<std::unique_ptr<bench::RunningPlugin>> all;
    for (int i = 0; i < kPlugins; ++i) all.push_back(start(*in_child));
    double before = bench::cpu_seconds() + cpu_of_children();
    for (int tick = 0; tick < kTicks; ++tick)
      for (auto& one : all) one->tick(host.clock());
    double both = (bench::cpu_seconds() + cpu_of_children() - before) / kTicks;  // for one second
    std::printf("CH3 thirty plugins at 1 Hz                    %8.3f %% of a core  target <= 1\n", both * 100);
  }

  void memory() {
    auto idle = start(*in_child, "count");
    idle->tick(host.clock());
    std::printf("CH4 private memory of an idle child           %8.2f MiB  target <= 4\n",
                bench::memory_mib(idle->process(), "Private_"));
  }

  // Measures a scrape of a thousand samples in the plugin's calls: all samples in one message, and one message for
  // each.
  void map_samples() {
    const load::Manifest scraper = *load::read_manifest(kScraper);
    const FileVersion stamp = *load::stamp_of(kScraper);
    auto child = child::load_in_child({bench::kPluginHost, images}, kScraper, scraper, stamp, {});
    auto context = host.make_context(scraper.id, {"koord.metrics/1", "koord.config/1"});
    auto runner = (*child)->make_runner(0, *context, {});
    if (!runner->create().ok() || !runner->init().ok()) std::abort();
    const koord_label labels[] = {{{"cpu", 3}, {"17", 2}}, {{"mode", 4}, {"iowait", 6}}};
    std::vector<scrape::ScrapedSample> samples(1000, {.name = "node_cpu_seconds_total", .labels = labels, .value = 1});
    std::vector<double> together, apart;
    for (int i = 0; i < 200; ++i) {
      together.push_back(wall_us([&] { runner->map_samples("", samples); }));
      apart.push_back(wall_us([&] {
        for (scrape::ScrapedSample& sample : samples) runner->map_samples("", {&sample, 1});
      }));
    }
    print_line("CH5 1000 samples mapped by a child, median", quantile(together, 0.5), "one by one",
               quantile(apart, 0.5));
    runner->destroy();
  }

  // Returns the CPU seconds of the children's first threads, which make the calls.
  static double cpu_of_children() {
    double sum = 0;
    for (int pid : bench::child_processes()) {
      double ns = 0;
      std::ifstream("/proc/" + std::to_string(pid) + "/schedstat") >> ns;
      sum += ns * 1e-9;
    }
    return sum;
  }

  static void print_line(const char* name, double ours, const char* other, double reference) {
    std::printf("%-44s ours %8.1f us  %s %8.1f us  ratio %6.1f\n", name, ours, other, reference, ours / reference);
  }
};

}  // namespace

int main() {
  Bench bench;
  bench.tick_of_64();
  bench.restart();
  bench.thirty_at_1_hz();
  bench.memory();
  bench.map_samples();
}
