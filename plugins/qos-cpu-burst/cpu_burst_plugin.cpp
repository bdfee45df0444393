// SPDX-License-Identifier: Apache-2.0
// qos-cpu-burst: lets containers on the shared CPUs use more than their CPU limit for a limited time.
#include <cstdlib>
#include <string>
#include <unordered_map>

#include "core/base/problem_tracker.hpp"
#include "plugins/qos-cpu-burst/burst_pods.hpp"
#include "plugins/qos-cpu-burst/cpu_burst.hpp"
#include "plugins/shared/node/live_series.hpp"
#include "plugins/shared/sdk/metric_query.hpp"
#include "plugins/shared/strategy/proposal.hpp"
#include "plugins/shared/strategy/refusals.hpp"
#include "plugins/shared/strategy/slo_of_node.hpp"

namespace {

using namespace std::chrono_literals;
using koord::MetricQuery;
using koord::ProblemTracker;
using koord::cpu_burst::Container;
using koord::cpu_burst::CpuBurst;
using koord::cpu_burst::has_quota_part;
using koord::cpu_burst::HeldBack;
using koord::cpu_burst::Pod;
using koord::cpu_burst::Pool;
using koord::cpu_burst::Situation;
using koord::node::LiveSeries;
using koord::plugin::Batch;
using koord::plugin::Config;
using koord::plugin::Snapshot;
using koord::plugin::str;
using koord::plugin::Strided;
using koord::strategy::Intent;
using koord::strategy::Intents;

constexpr char kSchema[] = R"json({
  "type": "object",
  "properties": {
    "windowSeconds": {"type": "integer", "minimum": 1, "maximum": 60},
    "burstAboveQuota": {"type": "boolean"}
  },
  "additionalProperties": false
})json";

constexpr std::chrono::nanoseconds kPeriod = 1s;
constexpr std::chrono::nanoseconds kHoldsFor = 10 * kPeriod;
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kFreshNs = 10 * kSecondNs;
constexpr std::int64_t kDefaultWindowSeconds = 5;
constexpr double kDefaultThresholdPercent = 50;

class CpuBurstStrategy final : public koord::plugin::QosStrategy {
 public:
  void init() override {
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    knobs_ = koord::plugin::require<koord_svc_knobs>(host(), "koord.knobs/1");
    audit_ = static_cast<const koord_svc_audit*>(host()->get_service(host(), "koord.audit/1"));
    metrics_ = MetricQuery(host());
    batch_ = Batch(host());
    quota_series_ = burst_series_ = LiveSeries(host());
    quota_ = define(
        {"container_scaled_cfs_quota_us", "microseconds", "Raised CPU quota proposed for a container, per 100 ms.", 1});
    burst_us_ = define({"container_scaled_cfs_burst_us", "microseconds",
                        "Unused quota that a container may use later, per 100 ms.", 1});
    read_config();
  }

  void on_event(std::uint32_t what, std::uint64_t) override {
    if (what == KOORD_ON_CONFIG) read_config();
  }

  void evaluate(std::uint64_t now_ns, std::uint64_t) override {
    const Snapshot snapshot(host(), state_);
    situation_.now_ns = now_ns;
    follow(snapshot);
    situation_.pool.reset();
    if (any_quota_part_) measure(snapshot);
    const Intents quotas = burst_.quotas(situation_);
    koord::strategy::propose(host(), knobs_, bursts_, kHoldsFor);
    koord::strategy::propose(host(), knobs_, quotas, kHoldsFor);
    count(quotas);
    for (const HeldBack& one : burst_.held_back()) record(one);
  }

  void on_applied(Strided<koord_intent_result> results) override {
    for (const koord_intent_result& result : results)
      if (koord::plugin::view(result.knob) == "cpu.max")
        burst_.applied(koord::plugin::view(result.cgroup_dir), result.status == KOORD_OK);
    for (const std::string& line : refusals_.new_lines(results)) log(KOORD_LOG_INFO, line);
  }

 private:
  void read_config() {
    const Config config(host());
    window_ns_ = static_cast<std::uint64_t>(config.i64("/windowSeconds").value_or(kDefaultWindowSeconds)) * kSecondNs;
    burst_.set_window(window_ns_);
    burst_.set_burst_above_quota(config.boolean("/burstAboveQuota").value_or(false));
    followed_.reset();
  }

  // Updates what depends only on the pods, the NodeSLO and the configuration.
  void follow(const Snapshot& snapshot) {
    for (const std::string& problem : node_slo_.follow(snapshot)) log(KOORD_LOG_WARN, problem);
    if (const std::string line = node_slo_.new_line(situation_.now_ns); !line.empty()) log(KOORD_LOG_INFO, line);
    const Versions versions{snapshot.version(KOORD_ON_NODE_SLO), snapshot.version(KOORD_ON_PODS)};
    if (followed_ == versions) return;
    take_pods(snapshot);
    any_quota_part_ = false;
    for (const Pod& pod : situation_.pods) any_quota_part_ = any_quota_part_ || has_quota_part(pod.settings);
    bursts_ = burst_.bursts(situation_.pods);
    burst_points_ = points_of(bursts_, burst_us_, burst_series_);
    followed_ = versions;
  }

  void take_pods(const Snapshot& snapshot) {
    const koord::slo::NodeSlo* slo = node_slo_.get();
    slo_ = slo && slo->cpu_burst ? &*slo->cpu_burst : nullptr;
    situation_.pods.clear();
    if (!slo_) return;                               // new_line() reports it
    if (slo->inactive.contains("CPUBurst")) return;  // the agent logs the invalid value
    of_snapshot_ = koord::cpu_burst::snapshot_of(snapshot.pods(), *slo_);
    situation_.pods = std::move(of_snapshot_.pods);
    for (const std::string& problem : of_snapshot_.problems) log_once(problem, "ignored");
  }

  void measure(const Snapshot& snapshot) {
    const std::uint64_t now_ns = situation_.now_ns;
    situation_.pool = pool(snapshot, now_ns);
    const auto throttled = metrics_.by_subject("container_cpu_throttled", KOORD_AGG_LAST, now_ns, kFreshNs);
    const auto usage = metrics_.by_subject("container_cpu_usage", KOORD_AGG_LAST, now_ns, kFreshNs);
    for (Pod& pod : situation_.pods) {
      for (Container& container : pod.containers) {
        container.throttled.reset();
        container.usage_cores.reset();
        if (const auto found = throttled.find(container.handle); found != throttled.end())
          container.throttled = {found->second.value, found->second.at_ns};
        if (const auto found = usage.find(container.handle); found != usage.end())
          container.usage_cores = found->second.value;
      }
    }
  }

  // Returns the pool's usage over the window. The usage of pods without a sample is not subtracted. So the pool looks
  // busier, and fewer containers burst.
  std::optional<Pool> pool(const Snapshot& snapshot, std::uint64_t now_ns) {
    const double cores = koord::cpu_burst::cores_of(snapshot.topology());
    const auto node = metrics_.of_node("node_cpu_usage", KOORD_AGG_AVG, now_ns, window_ns_);
    if (cores <= 0 || !node) {
      if (!unknown_since_ns_) unknown_since_ns_ = now_ns;
      // A session may begin before the first measurement.
      if (now_ns - *unknown_since_ns_ >= kFreshNs)
        log_once("shared CPUs", cores <= 0
                                    ? "the node's CPUs are not known, so no quota is raised"
                                    : "node_cpu_usage is not measured (advisor-node-resource), so no quota is raised");
      return std::nullopt;
    }
    unknown_since_ns_.reset();
    if (problems_.update("shared CPUs", "") == ProblemTracker::Change::over)
      log(KOORD_LOG_INFO, "shared CPUs: their use is known, quotas may be raised");
    const auto pods = metrics_.by_subject("pod_cpu_usage", KOORD_AGG_AVG, now_ns, window_ns_);
    Pool pool{cores - of_snapshot_.exclusive_cores, node->value, kDefaultThresholdPercent};
    if (slo_->share_pool_threshold_percent)
      pool.threshold_percent = static_cast<double>(*slo_->share_pool_threshold_percent);
    for (std::uint64_t handle : of_snapshot_.outside)
      if (const auto found = pods.find(handle); found != pods.end()) pool.used -= found->second.value;
    pool.used = std::max(pool.used, 0.0);
    return pool;
  }

  // Exports the proposals for containers while they exist.
  void count(const Intents& quotas) {
    for (const koord_point& point : points_of(quotas, quota_, quota_series_)) batch_.add(point.series, point.value);
    for (const koord_point& point : burst_points_) batch_.add(point.series, point.value);
    batch_.send(situation_.now_ns);
  }

  // Returns the points of the proposals. Ends the series of containers without a proposal.
  std::vector<koord_point> points_of(const Intents& intents, const koord::plugin::Metric& metric,
                                     LiveSeries& live) const {
    std::unordered_map<std::string_view, const Container*> containers;
    if (!intents.empty())
      for (const Pod& pod : situation_.pods)
        for (const Container& container : pod.containers) containers.emplace(container.cgroup_dir, &container);
    std::vector<koord_point> points;
    for (const Intent& intent : intents) {
      if (intent.level != KOORD_LEVEL_CONTAINER) continue;
      const Container& container = *containers.at(intent.cgroup_dir);
      const double of_limit =
          intent.role == KOORD_ROLE_SCALE ? static_cast<double>(container.limit_milli) * 100 : 1;  // µs of 100 ms
      points.push_back({live.of(intent.cgroup_dir, [&] { return metric.series(container.handle); }),
                        of_limit * std::strtod(intent.value.c_str(), nullptr)});
    }
    live.end_others();
    return points;
  }

  // Records an event of the container for `koordctl why`. The event has the reason why the quota was not raised.
  void record(const HeldBack& container) {
    constexpr std::string_view kNotRaised = "CPU quota not raised";
    if (audit_ == nullptr) return log(KOORD_LOG_INFO, std::string(kNotRaised) + ": " + container.why);
    audit_->record(host(), container.handle, str(kNotRaised), str(container.why));
  }

  void log_once(std::string_view about, std::string_view what) {
    if (problems_.update(about, what) == ProblemTracker::Change::begun)
      log(KOORD_LOG_INFO, std::string(about) + ": " + std::string(what));
  }

  const koord_svc_state* state_ = nullptr;
  const koord_svc_knobs* knobs_ = nullptr;
  const koord_svc_audit* audit_ = nullptr;  // null: events go to the log
  MetricQuery metrics_;
  Batch batch_;
  LiveSeries quota_series_, burst_series_;
  koord::plugin::Metric quota_, burst_us_;
  std::uint64_t window_ns_ = 0;
  struct Versions {
    std::uint64_t slo, pods;
    bool operator==(const Versions&) const = default;
  };
  std::optional<Versions> followed_;
  koord::strategy::SloOfNode node_slo_;
  const koord::slo::CpuBurst* slo_ = nullptr;  // a part of node_slo_
  koord::cpu_burst::Snapshot of_snapshot_;     // last result of snapshot_of(); its pods are in situation_
  Situation situation_;
  Intents bursts_;
  std::vector<koord_point> burst_points_;
  bool any_quota_part_ = false;
  std::optional<std::uint64_t> unknown_since_ns_;  // begin of the time in which the usage of the shared CPUs is unknown
  CpuBurst burst_{kDefaultWindowSeconds * kSecondNs};
  koord::strategy::Refusals refusals_;
  ProblemTracker problems_;
};

}  // namespace

KOORD_PLUGIN(
    "id=qos-cpu-burst\nversion=1.0.0\nkinds=koord.qos-strategy/1\n"
    "gate=CPUBurst\nstage=beta\ndefault=true\n"
    "requires=koord.config/1,koord.knobs/1,koord.metrics/1,koord.state/1\noptional=koord.audit/1\nlicense=Apache-2.0\n"
    "description=Lets containers have more than their CPU limit for a while\n",
    koord::plugin::qos_strategy<CpuBurstStrategy>("cpu-burst", kPeriod, kSchema))
