// SPDX-License-Identifier: Apache-2.0
// qos-cpu-suppress: caps best-effort CPU at the threshold minus what other pods use.
#include <chrono>
#include <optional>
#include <string>

#include "koordetector/plugin.hpp"
#include "plugins/qos-cpu-suppress/cpu_suppress.hpp"
#include "plugins/qos-cpu-suppress/node_view.hpp"
#include "plugins/shared/sdk/known_series.hpp"
#include "plugins/shared/strategy/proposal.hpp"
#include "plugins/shared/strategy/refusals.hpp"
#include "plugins/shared/strategy/slo_of_node.hpp"

namespace {

using namespace std::chrono_literals;
using namespace koord::cpu_suppress;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::KnownSeries;
using koord::plugin::Snapshot;

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "policy": {"enum": ["nodeSLO", "cpuset", "cfsQuota", "cpuIdle"],
               "description": "how best-effort pods are held back; nodeSLO, the default: as its cpuSuppressPolicy says"},
    "holdSeconds": {"type": "integer", "minimum": 0, "maximum": 3600,
                    "description": "best-effort CPU is increased after there was room for it for this time; default: 30"},
    "maxAgeSeconds": {"type": "integer", "minimum": 1, "maximum": 60,
                      "description": "a measurement that is older is none; default: 5"}
  }})";

constexpr std::chrono::nanoseconds kPeriod = 1s;
constexpr std::chrono::nanoseconds kHoldsFor =
    15s;  // after this time without a decision the host reverts the knobs of best-effort pods

std::uint64_t nanoseconds(std::int64_t seconds) { return static_cast<std::uint64_t>(seconds) * 1'000'000'000; }

class CpuSuppress final : public koord::plugin::QosStrategy {
 public:
  void init() override {
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    knobs_ = koord::plugin::require<koord_svc_knobs>(host(), "koord.knobs/1");
    node_ = NodeView(host());
    batch_ = Batch(host());
    const koord::plugin::Metric granted =
        define({"be_suppress_cpu_cores", "cores", "CPU limit of best-effort pods while one is set, in cores.", 0.001});
    by_cpuset_.emplace(host(), [granted] { return granted.series(KOORD_NO_SUBJECT, {{"type", "cpuset"}}); });
    by_quota_.emplace(host(), [granted] { return granted.series(KOORD_NO_SUBJECT, {{"type", "cfsQuota"}}); });
    others_ = define({"be_suppress_ls_used_cpu_cores", "cores", "CPU used by pods that are not best-effort, in cores.",
                      0.001})
                  .series();
    read_config();
  }

  void on_event(std::uint32_t what, std::uint64_t /*version*/) override {
    if (what & KOORD_ON_CONFIG) read_config();
  }

  // If it throws, the intents stay until they expire, because an unknown load is neither busy nor idle.
  void evaluate(std::uint64_t now_ns, std::uint64_t /*deadline_ns*/) override {
    const Snapshot snapshot(host(), state_);
    for (const std::string& problem : slo_.follow(snapshot)) log(KOORD_LOG_WARN, "NodeSLO: " + problem);
    if (const std::string line = slo_.new_line(now_ns); !line.empty()) log(KOORD_LOG_INFO, line);
    const koord::slo::NodeSlo* slo = slo_.get();
    const bool known = slo && slo->threshold && slo->threshold->enable;
    if (!known && proposed_) throw Failure(KOORD_E_AGAIN, "the NodeSLO is not known any more");
    if (!known || !*slo->threshold->enable) return finish(now_ns, {}, std::nullopt);
    if (slo->inactive.contains("BECPUSuppress")) return finish(now_ns, {}, std::nullopt);  // the agent logs the value
    Inputs inputs;
    inputs.policy = policy_of(*slo->threshold);
    inputs.threshold_percent = slo->threshold->cpu_suppress_threshold_percent.value_or(inputs.threshold_percent);
    inputs.min_percent = slo->threshold->cpu_suppress_min_percent;
    node_.read(snapshot, now_ns, max_age_ns_, inputs);
    if (inputs.targets.empty()) return finish(now_ns, {}, inputs.use.pods);
    finish(now_ns, plan(inputs, settings_, memory_), inputs.use.pods, inputs.policy);
  }

  void on_applied(koord::plugin::Strided<koord_intent_result> results) override {
    for (const std::string& line : refusals_.new_lines(results)) log(KOORD_LOG_INFO, line);
  }

 private:
  void read_config() {
    const koord::plugin::Config config(host());
    const std::string policy = config.string("/policy").value_or("nodeSLO");
    policy_.reset();
    if (policy == "cpuset") policy_ = Policy::cpuset;
    if (policy == "cfsQuota") policy_ = Policy::cfs_quota;
    if (policy == "cpuIdle") policy_ = Policy::cpu_idle;
    settings_.hold_ns = nanoseconds(config.i64("/holdSeconds").value_or(30));
    max_age_ns_ = nanoseconds(config.i64("/maxAgeSeconds").value_or(5));
  }

  Policy policy_of(const koord::slo::Threshold& threshold) const {
    if (policy_) return *policy_;
    return threshold.cpu_suppress_policy == koord::slo::SuppressPolicy::cfs_quota ? Policy::cfs_quota : Policy::cpuset;
  }

  // Without intents the host reverts the knobs of best-effort pods, and the next plan starts from the original values.
  void finish(std::uint64_t now_ns, const Round& round, std::optional<double> others,
              std::optional<Policy> policy = std::nullopt) {
    if (!policy) memory_ = {};
    if (!round.problem.empty() && round.problem != last_problem_) log(KOORD_LOG_WARN, round.problem);
    last_problem_ = round.problem;
    koord::strategy::propose(host(), knobs_, round.intents, kHoldsFor);
    proposed_ = !round.intents.empty();
    const auto granted =
        round.granted_milli ? std::optional(static_cast<double>(*round.granted_milli) / 1000) : std::nullopt;
    by_cpuset_->set(batch_, policy == Policy::cpuset ? granted : std::nullopt);
    by_quota_->set(batch_, policy == Policy::cfs_quota ? granted : std::nullopt);
    if (others) batch_.add(others_, *others);
    batch_.send(now_ns);
  }

  const koord_svc_state* state_ = nullptr;
  const koord_svc_knobs* knobs_ = nullptr;
  NodeView node_;
  koord::strategy::SloOfNode slo_;
  koord::strategy::Refusals refusals_;
  std::optional<Policy> policy_;  // nullopt: use the NodeSLO's policy
  Settings settings_;
  std::uint64_t max_age_ns_ = 0;
  Memory memory_;
  bool proposed_ = false;
  std::string last_problem_;
  Batch batch_;
  std::optional<KnownSeries> by_cpuset_, by_quota_;
  std::uint64_t others_ = 0;
};

}  // namespace

KOORD_PLUGIN("id=qos-cpu-suppress\nversion=1.0.0\nkinds=koord.qos-strategy/1\n"
             "gate=BECPUSuppress\nstage=beta\ndefault=true\n"
             "requires=koord.config/1,koord.fs/1,koord.knobs/1,koord.metrics/1,koord.state/1\nlicense=Apache-2.0\n"
             "description=Best-effort pods get of the CPU what the others leave of a threshold\n",
             koord::plugin::qos_strategy<CpuSuppress>("cpu-suppress", kPeriod, kConfigSchema))
