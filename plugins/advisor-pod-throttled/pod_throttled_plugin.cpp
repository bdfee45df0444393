// SPDX-License-Identifier: Apache-2.0
// advisor-pod-throttled: reports how much CPU quotas throttle pods, containers and services.
#include "koordetector/subjects.hpp"
#include "plugins/advisor-pod-throttled/pod_throttled.hpp"

namespace {

using namespace std::chrono_literals;
using koord::plugin::Batch;
using koord::plugin::CgroupValues;
using koord::plugin::Failure;
using koord::plugin::Metric;
using koord::plugin::MetricSpec;
using koord::plugin::Snapshot;
using koord::plugin::Subject;
using koord::plugin::Subjects;
using koord::pod_throttled::CpuStat;
using koord::pod_throttled::ThrottleMeter;

constexpr std::chrono::nanoseconds kPeriod = 1s;
constexpr std::uint64_t kMaxGapNs = std::chrono::nanoseconds(20 * kPeriod).count();

struct Meter {
  std::uint64_t ratio_series, seconds_series;
  ThrottleMeter throttle{kMaxGapNs};
  CgroupValues<3> cpu_stat{"cpu.stat", {"nr_periods", "nr_throttled", "throttled_ns"}};
};

MetricSpec ratio_spec(std::string_view name, std::string_view help) { return {name, "ratio", help, 1e-4}; }
MetricSpec seconds_spec(std::string_view name, std::string_view help) {
  return {name, "seconds", help, 1e-3, KOORD_COUNTER};
}

class PodThrottled final : public koord::plugin::Advisor {
 public:
  void init() override {
    cgroup_ = koord::plugin::require<koord_svc_cgroup>(host(), "koord.cgroup/1");
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    batch_ = Batch(host());
    pod_ratio_ = define(
        ratio_spec("pod_cpu_throttled", "Share of the periods of its CPU quota in which a pod was throttled, 0 to 1."));
    container_ratio_ = define(
        ratio_spec("container_cpu_throttled",
                   "Share of the periods of its CPU quota in which a container or service was throttled, 0 to 1."));
    pod_seconds_ =
        define(seconds_spec("pod_cpu_throttled_seconds_total",
                            "Time for which its CPU quota has throttled a pod, summed over CPUs, in seconds."));
    container_seconds_ = define(seconds_spec(
        "container_cpu_throttled_seconds_total",
        "Time for which its CPU quota has throttled a container or service, summed over CPUs, in seconds."));
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    meters_.follow(Snapshot(host(), state_), [this](const Subject& subject) { return meter_of(subject); });
    std::optional<Failure> failure =
        meters_.for_each([&](Meter& meter, std::string_view dir) { measure(meter, dir, now_ns); });
    batch_.send(now_ns);
    if (failure) throw *failure;
  }

 private:
  Meter meter_of(const Subject& subject) const {
    const Metric& ratio = subject.is_pod() ? pod_ratio_ : container_ratio_;
    const Metric& seconds = subject.is_pod() ? pod_seconds_ : container_seconds_;
    return {ratio.series(subject.handle), seconds.series(subject.handle)};
  }

  void measure(Meter& meter, std::string_view dir, std::uint64_t now_ns) {
    auto reading = meter.cpu_stat.read(host(), cgroup_, dir, now_ns);
    if (!reading) return;
    const CpuStat stat = {reading->values[0], reading->values[1], reading->values[2]};
    if (auto ratio = meter.throttle.ratio(stat, reading->read_ns)) batch_.add(meter.ratio_series, *ratio);
    if (auto seconds = koord::pod_throttled::throttled_seconds(stat)) batch_.add(meter.seconds_series, *seconds);
  }

  const koord_svc_cgroup* cgroup_ = nullptr;
  const koord_svc_state* state_ = nullptr;
  Metric pod_ratio_, container_ratio_, pod_seconds_, container_seconds_;
  Subjects<Meter> meters_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-pod-throttled\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=PodThrottledCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.state/1,koord.cgroup/1\nlicense=Apache-2.0\n"
             "description=How much their CPU quota holds pods, containers and services back\n",
             koord::plugin::advisor<PodThrottled>("pod-throttled", kPeriod))
