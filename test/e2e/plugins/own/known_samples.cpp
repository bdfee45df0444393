// SPDX-License-Identifier: Apache-2.0
// Adds samples with known values once: for the node's last 400 s 100 samples of 0.01, 0.02, … 1.00 cores and of 1, 2, …
// 100 times 16 MiB, for the system half of these values, and for each pod 0.25 cores and 100 MiB. After that it only
// repeats the last sample.
#include <chrono>
#include <koordetector/plugin.hpp>

using namespace koord::plugin;

namespace {
constexpr std::uint64_t kStep = 4'000'000'000;  // ns
constexpr double kMiB = 1u << 20;
}  // namespace

class KnownSamples : public Advisor {
 public:
  void init() override {
    state_ = require<koord_svc_state>(host(), "koord.state/1");
    node_cpu_ = define({"node_cpu_usage", "cores", "Known.", 0.001}).series();
    node_memory_ = define({"node_memory_usage", "bytes", "Known.", 1}).series();
    system_cpu_ = define({"sys_cpu_usage", "cores", "Known.", 0.001}).series();
    system_memory_ = define({"sys_memory_usage", "bytes", "Known.", 1}).series();
    pod_cpu_ = define({"pod_cpu_usage", "cores", "Known.", 0.001});
    pod_memory_ = define({"pod_memory_usage", "bytes", "Known.", 1});
  }

  void collect(std::uint64_t now_ns, std::uint64_t /*deadline_ns*/) override {
    const auto snapshot = Snapshot::if_known(host(), state_);
    if (!snapshot || snapshot->pods().size() == 0 || done_) return;
    Batch batch(host());
    for (int i = 1; i <= 100; ++i) {
      batch.add(node_cpu_, i / 100.0);
      batch.add(node_memory_, i * 16 * kMiB);
      batch.add(system_cpu_, i / 200.0);
      batch.add(system_memory_, i * 8 * kMiB);
      for (const koord_pod& pod : snapshot->pods()) {
        batch.add(pod_cpu_.series(pod.handle), 0.25);
        batch.add(pod_memory_.series(pod.handle), 100 * kMiB);
      }
      batch.send(now_ns - (100 - static_cast<std::uint64_t>(i)) * kStep);
    }
    done_ = true;
  }

 private:
  const koord_svc_state* state_ = nullptr;
  std::uint64_t node_cpu_ = 0, node_memory_ = 0, system_cpu_ = 0, system_memory_ = 0;
  Metric pod_cpu_, pod_memory_;
  bool done_ = false;
};

KOORD_PLUGIN(
    "id=com.example.known-samples\nversion=1.0.0\nkinds=koord.advisor/1\ngate=KnownSamples\nrequires=koord.metrics/1,koord.state/1\n",
    advisor<KnownSamples>("known-samples", std::chrono::seconds(1)))
