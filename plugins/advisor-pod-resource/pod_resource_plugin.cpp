// SPDX-License-Identifier: Apache-2.0
// advisor-pod-resource: CPU and memory of every pod and container, and of the services and cgroups outside pods.
#include "koordetector/subjects.hpp"
#include "plugins/advisor-pod-resource/cgroup_meter.hpp"

namespace {

using namespace std::chrono_literals;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Metric;
using koord::plugin::Snapshot;
using koord::plugin::Subject;
using koord::plugin::Subjects;
using koord::pod_resource::CgroupMeter;

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
    meters_.follow(Snapshot(host(), state_), [this](const Subject& subject) { return meter_of(subject); });
    std::optional<Failure> cpu = meters_.for_each(
        [&](CgroupMeter& meter, std::string_view dir) { meter.measure_cpu(services_, dir, now_ns, batch_); });
    std::optional<Failure> memory = meters_.for_each(
        [&](CgroupMeter& meter, std::string_view dir) { meter.measure_memory(services_, dir, now_ns, batch_); });
    batch_.send(now_ns);
    if (cpu) throw *cpu;
    if (memory) throw *memory;
  }

 private:
  CgroupMeter meter_of(const Subject& subject) const {
    const Metric& cpu = subject.is_pod() ? pod_cpu_ : container_cpu_;
    const Metric& memory = subject.is_pod() ? pod_memory_ : container_memory_;
    return {{cpu.series(subject.handle), memory.series(subject.handle)}, kMaxGapNs};
  }

  koord::pod_resource::Services services_;
  const koord_svc_state* state_ = nullptr;
  Metric pod_cpu_, pod_memory_, container_cpu_, container_memory_;
  Subjects<CgroupMeter> meters_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN(
    "id=advisor-pod-resource\nversion=1.0.0\nkinds=koord.advisor/1\n"
    "gate=PodResourceCollector\nstage=beta\ndefault=true\n"
    "requires=koord.metrics/1,koord.state/1,koord.cgroup/1\nlicense=Apache-2.0\n"
    "description=CPU and memory of pods, containers and services\n",
    koord::plugin::advisor<PodResource>("pod-resource", kPeriod))
