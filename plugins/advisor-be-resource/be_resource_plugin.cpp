// SPDX-License-Identifier: Apache-2.0
// advisor-be-resource: reports CPU limit, requests and usage of the node's best-effort pods.
#include <algorithm>

#include "koordetector/subjects.hpp"
#include "plugins/advisor-be-resource/best_effort_class.hpp"
#include "plugins/shared/node/pod_places.hpp"

namespace {

using namespace std::chrono_literals;
using koord::CpuSet;
using koord::be_resource::BestEffortClass;
using koord::be_resource::CpuMax;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Files;
using koord::plugin::Metric;
using koord::plugin::Snapshot;
using koord::plugin::view;

constexpr std::chrono::nanoseconds kPeriod = 1s;
constexpr std::uint64_t kMaxGapNs = std::chrono::nanoseconds(20 * kPeriod).count();
// The CPU sets need one file for each container, and hardly ever change.
constexpr std::uint64_t kCpuSetsPeriodNs = std::chrono::nanoseconds(5s).count();

constexpr std::string_view kBatchCpu = "kubernetes.io/batch-cpu";

koord::be_resource::Container container_of(const koord_container& container) {
  koord::be_resource::Container taken;
  taken.runs_beside = container.kind == KOORD_CONTAINER_REGULAR || container.kind == KOORD_CONTAINER_SIDECAR;
  const koord::plugin::Strided<koord_resource> resources(container.resources, container.n_resources,
                                                         container.resource_stride);
  for (const koord_resource& resource : resources)
    if (view(resource.name) == kBatchCpu && resource.request != KOORD_ABSENT) taken.batch_cpu_milli = resource.request;
  return taken;
}

koord::be_resource::Pod pod_of(const koord_pod& pod) {
  koord::be_resource::Pod taken;
  taken.is_best_effort = pod.qos == KOORD_QOS_BE;
  taken.has_ended = pod.phase == KOORD_PHASE_SUCCEEDED || pod.phase == KOORD_PHASE_FAILED;
  taken.object_known = pod.ns.n > 0;  // only the API object has a namespace
  for (const koord_container& container : koord::plugin::containers_of(pod))
    taken.containers.push_back(container_of(container));
  return taken;
}

// Returns whether the container's CPUs count. Sandboxes have all CPUs but do no work.
bool counts(const koord_container& container) {
  const bool runs = container.state == KOORD_CONTAINER_RUNNING || container.state == KOORD_CONTAINER_UNKNOWN;
  return runs && container.kind != KOORD_CONTAINER_SANDBOX && container.cgroup_dir.n > 0;
}

class BeResource final : public koord::plugin::Advisor {
 public:
  void init() override {
    cgroup_ = koord::plugin::require<koord_svc_cgroup>(host(), "koord.cgroup/1");
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    files_ = Files(host());
    batch_ = Batch(host());
    const Metric metric =
        define({"node_be", "milli-cores",
                "CPU of the best-effort pods, in milli-cores: their limit (real-limit), their requests "
                "(request) and use (usage).",
                0.1});
    real_limit_ = series(metric, "real-limit");
    request_ = series(metric, "request");
    usage_ = series(metric, "usage");
  }

  // Sends known values even if a different file cannot be read. The tick fails with the first error.
  void collect(std::uint64_t now_ns, std::uint64_t) override {
    follow_state();
    std::optional<Failure> failure;
    const auto keep = [&failure](auto&& step) {
      try {
        step();
      } catch (const Failure& failed) {
        if (!failure) failure = failed;
      }
    };
    keep([&] { measure_usage(now_ns); });
    keep([&] { measure_limit(now_ns); });
    if (requested_) batch_.add(request_, *requested_);
    batch_.send(now_ns);
    if (failure) throw *failure;
  }

 private:
  static std::uint64_t series(const Metric& metric, std::string_view allocation) {
    return metric.series(KOORD_NO_SUBJECT, {{"be_resource", "cpu"}, {"be_allocation", allocation}});
  }

  void follow_state() {
    const Snapshot snapshot(host(), state_);
    if (snapshot.version(KOORD_ON_PODS) == pods_version_) return;
    std::vector<koord::be_resource::Pod> pods;
    container_dirs_.clear();
    for (const koord_pod& pod : snapshot.pods()) {
      pods.push_back(pod_of(pod));
      if (pod.kube_qos != KOORD_KUBE_QOS_BEST_EFFORT) continue;
      for (const koord_container& container : koord::plugin::containers_of(pod))
        if (counts(container)) container_dirs_.emplace_back(view(container.cgroup_dir));
    }
    requested_ = koord::be_resource::requested_milli(pods);
    keep_or_make_classes(koord::kube::kube_roots(koord::kube::places_of(snapshot.pods())));
    container_cpus_until_ns_ = 0;
    pods_version_ = snapshot.version(KOORD_ON_PODS);
  }

  void keep_or_make_classes(const std::vector<koord::cgroup::KubeRoot>& roots) {
    std::vector<std::string> dirs;
    for (const auto& root : roots) dirs.push_back(koord::cgroup::qos_dir(root, koord::cgroup::KubeQos::best_effort));
    const bool same = classes_.size() == dirs.size() &&
                      std::equal(dirs.begin(), dirs.end(), classes_.begin(),
                                 [](const std::string& dir, const BestEffortClass& one) { return dir == one.dir(); });
    if (same) return;
    classes_.clear();
    for (std::string& dir : dirs) classes_.emplace_back(std::move(dir), kMaxGapNs);
  }

  // Measures the class's cgroup that exists.
  void measure_usage(std::uint64_t now_ns) {
    class_ = nullptr;
    for (BestEffortClass& one : classes_) {
      const std::optional<double> milli = one.usage_milli(host(), cgroup_, now_ns);
      if (milli) batch_.add(usage_, *milli);
      if (!one.there()) continue;
      class_ = &one;
      return;
    }
  }

  void measure_limit(std::uint64_t now_ns) {
    if (!class_) return;
    std::optional<std::size_t> cpus;
    if (const std::optional<CpuSet> own = koord::be_resource::effective_cpus(files_, class_->dir())) {
      read_container_cpus(now_ns);
      cpus = koord::be_resource::usable_cpus(*own, container_cpus_).size();
    }
    const std::optional<CpuMax> max = class_->max(host(), cgroup_, now_ns);
    if (auto milli = koord::be_resource::real_limit_milli(cpus, max)) batch_.add(real_limit_, *milli);
  }

  void read_container_cpus(std::uint64_t now_ns) {
    if (now_ns < container_cpus_until_ns_) return;
    container_cpus_until_ns_ = now_ns + kCpuSetsPeriodNs;
    container_cpus_.clear();
    for (const std::string& dir : container_dirs_)
      if (auto cpus = koord::be_resource::effective_cpus(files_, dir)) container_cpus_.push_back(*std::move(cpus));
  }

  const koord_svc_cgroup* cgroup_ = nullptr;
  const koord_svc_state* state_ = nullptr;
  Files files_;
  std::uint64_t real_limit_ = 0, request_ = 0, usage_ = 0;
  std::uint64_t pods_version_ = 0;
  std::optional<double> requested_;
  std::vector<BestEffortClass> classes_;
  BestEffortClass* class_ = nullptr;
  std::vector<std::string> container_dirs_;
  std::vector<CpuSet> container_cpus_;
  std::uint64_t container_cpus_until_ns_ = 0;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-be-resource\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=BEResourceCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.state/1,koord.cgroup/1,koord.fs/1\nlicense=Apache-2.0\n"
             "description=What best-effort pods may use of the node's CPUs, ask for and use\n",
             koord::plugin::advisor<BeResource>("be-resource", kPeriod))
