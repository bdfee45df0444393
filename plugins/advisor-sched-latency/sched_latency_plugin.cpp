// SPDX-License-Identifier: Apache-2.0
// advisor-sched-latency: how long the threads of the node, of every pod and of every container wait for a
// CPU.
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-sched-latency/followed.hpp"
#include "plugins/advisor-sched-latency/latency_metrics.hpp"
#include "plugins/advisor-sched-latency/sched_latency_probe.hpp"

namespace {

using namespace std::chrono_literals;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Metric;
using koord::plugin::Snapshot;
using koord::sched_latency::CgroupDirectory;
using koord::sched_latency::CgroupTree;
using koord::sched_latency::CumulativeCounts;
using koord::sched_latency::Followed;
using koord::sched_latency::LevelMetrics;
using koord::sched_latency::Probe;
using koord::sched_latency::ProbeOptions;
using koord::sched_latency::Reading;
using koord::sched_latency::SubjectSeries;
using koord::sched_latency::Windows;

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "source": {"enum": ["sched_info", "task_storage", "raw_tracepoint", "schedstat"],
               "description": "use this source or none; default: the cheapest that the kernel accepts"},
    "slots": {"type": "integer", "minimum": 2, "maximum": 65535,
              "description": "cgroups that can be told apart; default: what 16 MiB of kernel memory hold"},
    "btf": {"type": "string", "description": "file with the kernel's types, when the kernel itself has none"}
  }})";

template <class T>
T value_or_fail(koord::Result<T> result) {
  if (!result) throw Failure(KOORD_E_IO, result.error().message());
  return std::move(result).value();
}

class SchedLatency final : public koord::plugin::Advisor {
 public:
  void init() override {
    fs_ = koord::plugin::require<koord_svc_fs>(host(), "koord.fs/1");
    config_ = koord::plugin::require<koord_svc_config>(host(), "koord.config/1");
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    batch_ = Batch(host());
    define_metrics();
    tree_ = std::make_unique<CgroupTree>(
        value_or_fail(CgroupTree::find(root(KOORD_ROOT_CGROUP), root(KOORD_ROOT_PROC))));
    open_probe();
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    follow_state();
    std::vector<CgroupDirectory> watched;
    for (auto& [handle, pod] : pods_) pod.find_cgroups(*tree_, watched);
    for (auto& [handle, container] : containers_) container.find_cgroups(*tree_, watched);
    const Reading reading = value_or_fail(probe_->read(watched));
    windows_.advance(reading);
    CumulativeCounts counts;
    for (auto& [handle, pod] : pods_) pod.series().report(pod.window(windows_), batch_, counts);
    for (auto& [handle, container] : containers_)
      container.series().report(container.window(windows_), batch_, counts);
    if (windows_.node()) node_.report(*windows_.node(), batch_, counts);
    report_itself(reading);
    batch_.send(now_ns);
  }

 private:
  using ByHandle = std::unordered_map<std::uint64_t, Followed>;

  void define_metrics() {
    container_metrics_ = {host(), "container"};
    pod_metrics_ = {host(), "pod"};
    node_ = SubjectSeries(LevelMetrics(host(), "node"), KOORD_NO_SUBJECT);
    Metric lost =
        define({"sched_latency_lost_total", "waits",
                "Waits that are missing in some histogram, by the reason: no slot was free for the cgroup "
                "(then the node's has them), or the begin of the wait could not be kept.",
                1, KOORD_COUNTER});
    lost_no_slot_ = lost.series(KOORD_NO_SUBJECT, {{"reason", "no_slot"}});
    lost_no_begin_ = lost.series(KOORD_NO_SUBJECT, {{"reason", "no_begin"}});
    slots_used_ =
        define({"sched_latency_slots_used", "slots", "Cgroups with a histogram in the kernel."}).series();
    info_ = define(
        {"sched_latency_info", "", "Where scheduling latency is read from, in the label source; always 1."});
  }

  void open_probe() {
    auto opened = value_or_fail(koord::sched_latency::open_probe(*tree_, options()));
    for (const auto& refusal : opened.refused)
      log(KOORD_LOG_INFO,
          "source '" + std::string(name_of(refusal.source)) + "' is not available: " + refusal.why);
    probe_ = std::move(opened.probe);
    info_series_ = info_.series(KOORD_NO_SUBJECT, {{"source", name_of(probe_->source())}});
    log(KOORD_LOG_INFO, "reading scheduling latency from '" + std::string(name_of(probe_->source())) + "'");
  }

  ProbeOptions options() const {
    ProbeOptions options;
    options.proc = root(KOORD_ROOT_PROC);
    options.btf = configured("/btf");
    std::int64_t slots = 0;
    if (config_->i64(host(), koord::plugin::str("/slots"), &slots) == KOORD_OK)
      options.slots = static_cast<std::uint32_t>(slots);
    if (std::string wanted = configured("/source"); !wanted.empty()) {
      options.only = koord::sched_latency::source_of(wanted);
      if (!options.only) throw Failure(KOORD_E_INVALID, "source: '" + wanted + "' is not a source");
    }
    return options;
  }

  // Empty when it is not configured.
  std::string configured(std::string_view pointer) const {
    koord_status status = KOORD_OK;
    std::string text = koord::plugin::text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) {
      status = config_->string(host(), koord::plugin::str(pointer), buf, cap, need);
      return status == KOORD_E_NOT_FOUND ? KOORD_OK : status;
    });
    return status == KOORD_E_NOT_FOUND ? "" : text;
  }

  std::string root(std::uint32_t which) const {
    return koord::plugin::text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) {
      return fs_->path(host(), which, buf, cap, need);
    });
  }

  // The node is measured also while the pods are not known.
  void follow_state() {
    auto snapshot = Snapshot::if_known(host(), state_);
    if (!snapshot || snapshot->version(KOORD_ON_PODS) == pods_version_) return;
    ByHandle pods, containers;
    for (const koord_pod& pod : snapshot->pods()) {
      keep_or_make(pods, pods_, pod.handle, pod.cgroup_dir, pod_metrics_);
      for (const koord_container& container : koord::plugin::containers_of(pod))
        keep_or_make(containers, containers_, container.handle, container.cgroup_dir, container_metrics_);
    }
    for (const koord_container& container : snapshot->containers())
      keep_or_make(containers, containers_, container.handle, container.cgroup_dir, container_metrics_);
    pods_ = std::move(pods);
    containers_ = std::move(containers);
    pods_version_ = snapshot->version(KOORD_ON_PODS);
  }

  static void keep_or_make(ByHandle& next, ByHandle& known, std::uint64_t handle, koord_str dir,
                           const LevelMetrics& metrics) {
    if (dir.n == 0) return;
    const std::string_view cgroup = koord::plugin::view(dir);
    if (auto at = known.find(handle); at != known.end() && at->second.cgroup() == cgroup)
      next.insert(known.extract(at));
    else
      next.try_emplace(handle, std::string(cgroup), SubjectSeries(metrics, handle));
  }

  void report_itself(const Reading& reading) {
    batch_.add(info_series_, 1);
    if (reading.slots == 0) return;
    batch_.add(lost_no_slot_, static_cast<double>(reading.unassigned->count));
    batch_.add(lost_no_begin_, static_cast<double>(reading.lost_waits));
    batch_.add(slots_used_, reading.slots_used);
  }

  const koord_svc_fs* fs_ = nullptr;
  const koord_svc_config* config_ = nullptr;
  const koord_svc_state* state_ = nullptr;
  LevelMetrics container_metrics_, pod_metrics_;
  Metric info_;
  std::uint64_t lost_no_slot_ = 0, lost_no_begin_ = 0, slots_used_ = 0, info_series_ = 0;
  std::unique_ptr<CgroupTree> tree_;
  std::unique_ptr<Probe> probe_;
  Windows windows_;
  std::uint64_t pods_version_ = 0;
  ByHandle pods_, containers_;
  SubjectSeries node_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN(
    "id=advisor-sched-latency\nversion=1.0.0\nkinds=koord.advisor/1\n"
    "gate=SchedLatencyCollector\nstage=beta\ndefault=true\n"
    "requires=koord.metrics/1,koord.state/1,koord.fs/1,koord.config/1\nlicense=Apache-2.0\n"
    "description=How long threads wait for a CPU, per node, pod and container\n",
    koord::plugin::advisor<SchedLatency>("sched-latency", 5s, kConfigSchema))
