// SPDX-License-Identifier: Apache-2.0
// advisor-pod-resource: CPU and memory of every pod and container, and of the services and cgroups outside pods.
#include <unordered_map>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-pod-resource/cgroup_meter.hpp"

namespace {

using namespace std::chrono_literals;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Metric;
using koord::plugin::Snapshot;
using koord::pod_resource::CgroupMeter;
using koord::pod_resource::Series;

constexpr std::chrono::nanoseconds kPeriod = 1s;
// koordlet forgets its last value after 20 periods, too.
constexpr std::uint64_t kMaxGapNs = std::chrono::nanoseconds(20 * kPeriod).count();

class PodResource final : public koord::plugin::Advisor {
 public:
  void init() override {
    services_ = {host(), koord::plugin::require<koord_svc_cgroup>(host(), "koord.cgroup/1")};
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    batch_ = Batch(host());
    pod_cpu_ = define({"pod_cpu_usage", "cores", "CPU used by a pod, in cores.", 1e-4});
    pod_memory_ = define({"pod_memory_usage", "bytes", "Memory of a pod without page cache and slab, in bytes.", 4096});
    container_cpu_ = define({"container_cpu_usage", "cores", "CPU used by a container or service, in cores.", 1e-4});
    container_memory_ = define({"container_memory_usage", "bytes",
                                "Memory of a container or service without page cache and slab, in bytes.", 4096});
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    follow_state();
    std::string failed_dir;
    koord_status failure = KOORD_OK;
    for (auto& [handle, meter] : meters_) {
      koord_status status = meter.measure(services_, now_ns, batch_);
      if (status == KOORD_OK) continue;
      failure = status;
      failed_dir = meter.dir();
    }
    batch_.send(now_ns);
    if (failure != KOORD_OK) throw Failure(failure, "cannot read the cgroup '" + failed_dir + "'");
  }

 private:
  using Meters = std::unordered_map<std::uint64_t, CgroupMeter>;

  // Brings the meters in line with the pods and containers of the newest snapshot.
  void follow_state() {
    Snapshot snapshot(host(), state_);
    if (snapshot.version(KOORD_ON_PODS) == pods_version_) return;
    Meters next;
    for (const koord_pod& pod : snapshot.pods()) {
      keep_or_make(next, pod.handle, pod.cgroup_dir, pod_cpu_, pod_memory_);
      for (const koord_container& container : koord::plugin::containers_of(pod)) keep_or_make(next, container);
    }
    for (const koord_container& container : snapshot.containers()) keep_or_make(next, container);
    meters_ = std::move(next);
    pods_version_ = snapshot.version(KOORD_ON_PODS);
  }

  void keep_or_make(Meters& next, const koord_container& container) {
    if (container.state == KOORD_CONTAINER_WAITING || container.state == KOORD_CONTAINER_TERMINATED) return;
    keep_or_make(next, container.handle, container.cgroup_dir, container_cpu_, container_memory_);
  }

  void keep_or_make(Meters& next, std::uint64_t handle, koord_str dir, const Metric& cpu, const Metric& memory) {
    if (dir.n == 0) return;
    auto known = meters_.find(handle);
    if (known != meters_.end() && known->second.dir() == koord::plugin::view(dir)) {
      next.insert(meters_.extract(known));
      return;
    }
    Series series{cpu.series(handle), memory.series(handle)};
    next.try_emplace(handle, std::string(koord::plugin::view(dir)), series, kMaxGapNs);
  }

  koord::pod_resource::Services services_;
  const koord_svc_state* state_ = nullptr;
  Metric pod_cpu_, pod_memory_, container_cpu_, container_memory_;
  std::uint64_t pods_version_ = 0;
  Meters meters_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN(
    "id=advisor-pod-resource\nversion=1.0.0\nkinds=koord.advisor/1\n"
    "gate=PodResourceCollector\nstage=beta\ndefault=true\n"
    "requires=koord.metrics/1,koord.state/1,koord.cgroup/1\nlicense=Apache-2.0\n"
    "description=CPU and memory of pods, containers and services\n",
    koord::plugin::advisor<PodResource>("pod-resource", kPeriod))
