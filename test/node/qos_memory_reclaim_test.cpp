// SPDX-License-Identifier: Apache-2.0
// qos-memory-reclaim with its intents enforced on this machine's kernel: with memory.reclaim (Linux 5.19, cgroup v2)
// page cache of a best-effort pod is reclaimed; other kernels report that the knob does not exist. The first argument
// is the shared object.
#include <fcntl.h>
#include <unistd.h>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "koordetector/plugin.hpp"
#include "test/node/enforced_strategy.hpp"
#include "test/support/child_process.hpp"
#include "test/support/loop_disk.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

std::string shared_object;

constexpr std::int64_t kMi = 1 << 20;

// A best-effort pod with 40 MiB reported as cold.
struct QosMemoryReclaimFixture {
  QosMemoryReclaimFixture() : strategy(shared_object, "qos-memory-reclaim") {
    state::Pod of_it;
    of_it.uid = of_it.name = "u1";
    of_it.koord_qos = state::KoordQos::be;
    of_it.phase = state::Phase::running;
    of_it.cgroup_dir = pod.dir();
    strategy.host().hub().publish({.pods = std::vector{of_it}});
    advisor = strategy.host().make_context("advisor-cold-memory", workshop::all_services());
    const koord_host* host = advisor->host();
    const plugin::Metric cold(host, {"pod_memory_cold_page_size", "bytes", "cold memory", 1});
    const plugin::Snapshot snapshot(host,
                                    static_cast<const koord_svc_state*>(host->get_service(host, "koord.state/1")));
    plugin::Batch batch(host);
    batch.add(cold.series((*snapshot.pods().begin()).handle), 40.0 * kMi);
    batch.send(static_cast<const koord_svc_clock*>(host->get_service(host, "koord.clock/1"))->now_ns(host));
  }
  std::int64_t page_cache() const {
    const std::string stat = read_file(pod.path(cgroup::Controller::memory) + "/memory.stat").value_or("");
    return static_cast<std::int64_t>(find_flat_key(stat, "inactive_file").value_or(0) +
                                     find_flat_key(stat, "active_file").value_or(0));
  }
  // Reads the disk through the page cache, as a process of the pod.
  void read(const LoopDisk& disk) const {
    ChildProcess reader([&] {
      pod.add_process(::getpid());
      const int device = ::open(disk.path().c_str(), O_RDONLY | O_CLOEXEC);
      static char block[1 << 16];
      while (::read(device, block, sizeof block) > 0) {
      }
    });
    REQUIRE(reader.wait(300s) == 0);
  }

  RealCgroup pod{"best-effort"};
  EnforcedStrategy strategy;
  std::unique_ptr<service::PluginContext> advisor;
};

bool kernel_reclaims() {
  const RealCgroup probe("probe");
  return ::access((probe.path(cgroup::Controller::memory) + "/memory.reclaim").c_str(), W_OK) == 0;
}

}  // namespace

TEST_CASE("the requested amount of cold page cache is reclaimed") {
  if (!kernel_reclaims()) return;
  const auto disk = LoopDisk::attach(64 * kMi);
  if (!disk) return;
  QosMemoryReclaimFixture fixture;
  fixture.read(*disk);
  const std::int64_t before = fixture.page_cache();
  REQUIRE(before > 48 * kMi);
  fixture.strategy.round(10s);  // learns that the knob exists
  CHECK_FALSE(fixture.strategy.result_of("memory.reclaim", fixture.pod));
  fixture.strategy.round(10s);
  const auto result = fixture.strategy.result_of("memory.reclaim", fixture.pod);
  REQUIRE(result);
  CHECK(result->outcome == decision::Outcome::applied);
  CHECK(result->final_value == std::to_string(5 * kMi));
  CHECK(fixture.page_cache() <= before - 4 * kMi);
  CHECK(fixture.page_cache() >= before - 16 * kMi);
}

TEST_CASE("without memory.reclaim, or with a cgroup without pressure, no page is reclaimed") {
  if (kernel_reclaims()) return;
  const auto disk = LoopDisk::attach(64 * kMi);
  if (!disk) return;
  QosMemoryReclaimFixture fixture;
  fixture.read(*disk);
  const std::int64_t before = fixture.page_cache();
  fixture.strategy.round(10s);
  fixture.strategy.round(10s);
  const auto result = fixture.strategy.result_of("memory.reclaim", fixture.pod);
  CHECK((!result || result->outcome == decision::Outcome::unsupported));
  CHECK(fixture.page_cache() == before);
}

int main(int argc, char** argv) { return run_with_strategy(argc, argv, shared_object); }
