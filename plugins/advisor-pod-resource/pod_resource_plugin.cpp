// SPDX-License-Identifier: Apache-2.0
// advisor-pod-resource: reports CPU and memory of each pod and container, and of services and cgroups outside of pods.
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
using koord::pod_resource::Series;

constexpr std::chrono::nanoseconds kPeriod = 1s;
// koordlet also drops its last value after 20 periods.
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
    pod_numa_memory_ = define({"pod_numa_memory_usage", "bytes",
                               "Memory of a NUMA node that a pod uses, without page cache and slab, in bytes.", 4096});
    pod_current_ = define({"pod_memory_current_bytes", "bytes",
                           "Memory charged to a pod, with page cache and kernel memory, in bytes.", 4096});
    container_memory_ = define({"container_memory_usage", "bytes",
                                "Memory of a container or service without page cache and slab, in bytes.", 4096});
    container_current_ = define({"container_memory_current_bytes", "bytes",
                                 "Memory charged to a container or service, with page cache and kernel memory, in "
                                 "bytes.",
                                 4096});
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    follow_state();
    std::optional<Failure> failure;
    for (const auto measure : {&CgroupMeter::measure_cpu, &CgroupMeter::measure_memory_current,
                               &CgroupMeter::measure_memory, &CgroupMeter::measure_numa_memory}) {
      std::optional<Failure> failed = meters_.for_each(
          [&](CgroupMeter& meter, std::string_view dir) { (meter.*measure)(services_, dir, now_ns, batch_); });
      if (!failure) failure = std::move(failed);
    }
    batch_.send(now_ns);
    if (failure) throw *failure;
  }

 private:
  void follow_state() {
    const Snapshot snapshot(host(), state_);
    if (snapshot.version(KOORD_ON_TOPOLOGY) != topology_version_) {
      meters_.clear();
      numa_nodes_ = koord::memory::numa_nodes(snapshot.topology());
      topology_version_ = snapshot.version(KOORD_ON_TOPOLOGY);
    }
    meters_.follow(snapshot, [this](const Subject& subject) { return meter_of(subject); });
  }

  CgroupMeter meter_of(const Subject& subject) const {
    const std::uint64_t handle = subject.handle;
    if (!subject.is_pod())
      return {{container_cpu_.series(handle), container_memory_.series(handle), container_current_.series(handle), {}},
              {},
              kMaxGapNs};
    Series series = {pod_cpu_.series(handle), pod_memory_.series(handle), pod_current_.series(handle), {}};
    for (const koord::memory::NumaNode& node : numa_nodes_)
      series.numa_memory[node.id] = pod_numa_memory_.series(handle, {{"numa_node_id", std::to_string(node.id)}});
    return {std::move(series), numa_nodes_, kMaxGapNs};
  }

  koord::pod_resource::Services services_;
  const koord_svc_state* state_ = nullptr;
  Metric pod_cpu_, pod_memory_, pod_current_, pod_numa_memory_, container_cpu_, container_memory_, container_current_;
  std::uint64_t topology_version_ = 0;
  koord::memory::NumaNodes numa_nodes_;
  Subjects<CgroupMeter> meters_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-pod-resource\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=PodResourceCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.state/1,koord.cgroup/1\nlicense=Apache-2.0\n"
             "description=CPU and memory of pods, containers and services\n",
             koord::plugin::advisor<PodResource>("pod-resource", kPeriod))
