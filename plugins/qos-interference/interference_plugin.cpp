// SPDX-License-Identifier: Apache-2.0
// qos-interference: restrains pods of a lower class that slow down a pod of a higher class, based on the standing
// verdicts.
#include <set>
#include <string>
#include <utility>

#include "core/base/problem_tracker.hpp"
#include "koordetector/plugin.hpp"
#include "koordetector/verdicts.hpp"
#include "plugins/qos-interference/inputs.hpp"
#include "plugins/qos-interference/intents.hpp"
#include "plugins/qos-interference/ladder.hpp"
#include "plugins/shared/node/live_series.hpp"
#include "plugins/shared/sdk/metric_query.hpp"
#include "plugins/shared/strategy/proposal.hpp"
#include "plugins/shared/strategy/refusals.hpp"

namespace {

using namespace std::chrono_literals;
using koord::MetricQuery;
using koord::ProblemTracker;
using koord::mitigation::Change;
using koord::mitigation::Decision;
using koord::mitigation::Eviction;
using koord::mitigation::Ladder;
using koord::mitigation::Pod;
using koord::mitigation::Rank;
using koord::mitigation::Restraint;
using koord::mitigation::Rules;
using koord::mitigation::Situation;
using koord::mitigation::Trusted;
using koord::mitigation::Verdict;
using koord::plugin::Config;
using koord::plugin::Failure;
using koord::plugin::Snapshot;
using koord::plugin::str;
using koord::plugin::Strided;

constexpr char kSchema[] = R"json({
  "type": "object",
  "properties": {
    "stepSeconds": {"type": "integer", "minimum": 1, "maximum": 3600},
    "probeSeconds": {"type": "integer", "minimum": 1, "maximum": 86400},
    "leastSharePercent": {"type": "integer", "minimum": 1, "maximum": 100},
    "mostPods": {"type": "integer", "minimum": 1, "maximum": 1000},
    "evict": {"type": "boolean"},
    "classes": {"type": "array", "items": {"type": "string", "enum": ["BE", "batch", "mid"]}},
    "verdictsFrom": {"type": "array", "items": {"type": "string"}}
  },
  "additionalProperties": false
})json";

constexpr std::chrono::nanoseconds kPeriod = 1s;
constexpr std::chrono::nanoseconds kHoldsFor = 10 * kPeriod;
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kUseNs = 10 * kSecondNs;  // window of the average usage of a pod

class InterferenceMitigation final : public koord::plugin::QosStrategy {
 public:
  void init() override {
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    knobs_ = koord::plugin::require<koord_svc_knobs>(host(), "koord.knobs/1");
    verdicts_ = koord::plugin::Verdicts(host());
    evict_ = koord::plugin::Evict(host());
    audit_ = koord::plugin::require<koord_svc_audit>(host(), "koord.audit/1");
    config_ = koord::plugin::require<koord_svc_config>(host(), "koord.config/1");
    metrics_ = MetricQuery(host());
    batch_ = koord::plugin::Batch(host());
    steps_ = koord::node::LiveSeries(host());
    step_ =
        define({"pod_interference_step", "1",
                "How far a pod is restrained that holds up others: 1 least weight, 2 half of its use, 3 evicted.", 1});
    restrained_ =
        define({"interference_restrained_pods", "1", "Pods that are restrained because they hold up others.", 1})
            .series(KOORD_NO_SUBJECT);
    read_config();
  }

  void on_event(std::uint32_t what, std::uint64_t) override {
    if (what == KOORD_ON_CONFIG) read_config();
  }

  void evaluate(std::uint64_t now_ns, std::uint64_t) override {
    Situation situation;
    situation.now_ns = now_ns;
    take_state(situation);
    Decision decision = ladder_.decide(situation);
    const auto intents = koord::mitigation::intents_of(decision.restraints, situation.missing_knobs);
    koord::strategy::propose(host(), knobs_, intents, kHoldsFor);
    for (const Eviction& eviction : decision.evictions)
      if (!request(eviction)) ladder_.refused(eviction, decision);
    for (const Change& change : decision.changes) record(change);
    report(decision);
  }

  void on_applied(Strided<koord_intent_result> results) override {
    missing_.learn(results, now_ns_);
    for (const koord_intent_result& result : results) {
      // KOORD_E_AGAIN: a stricter cap of a different plugin holds.
      const bool is_in_effect = result.status == KOORD_OK || result.status == KOORD_E_AGAIN;
      ladder_.applied(koord::plugin::view(result.cgroup_dir), koord::plugin::view(result.knob), is_in_effect);
    }
    for (const std::string& line : refusals_.new_lines(results)) log(KOORD_LOG_INFO, line);
  }

 private:
  void read_config() {
    const Config config(host());
    Rules rules;
    rules.step_ns = seconds(config, "/stepSeconds", rules.step_ns);
    rules.probe_ns = seconds(config, "/probeSeconds", rules.probe_ns);
    if (const auto percent = config.i64("/leastSharePercent")) rules.least_share = static_cast<double>(*percent) / 100;
    if (const auto pods = config.i64("/mostPods")) rules.most_pods = static_cast<std::size_t>(*pods);
    rules.evicts = config.boolean("/evict").value_or(rules.evicts);
    if (rules.probe_ns < rules.step_ns)
      throw Failure(KOORD_E_INVALID, "probeSeconds is " + std::to_string(rules.probe_ns / kSecondNs) +
                                         ", less than stepSeconds, which is " +
                                         std::to_string(rules.step_ns / kSecondNs));
    if (has(str("/classes"))) {
      const std::set<std::string> names = texts(config, "/classes/");
      std::erase_if(rules.restrained,
                    [&](Rank rank) { return !names.contains(std::string(koord::mitigation::name_of(rank))); });
    }
    trusted_.clear();
    for (const std::string& plugin : texts(config, "/verdictsFrom/")) trusted_.insert(plugin);
    ladder_.set_rules(std::move(rules));
  }

  // Returns whether the setting exists, whatever its type.
  bool has(koord_str pointer) const {
    std::int64_t value = 0;
    return config_->i64(host(), pointer, &value) != KOORD_E_NOT_FOUND;
  }

  static std::uint64_t seconds(const Config& config, std::string_view pointer, std::uint64_t otherwise_ns) {
    const auto set = config.i64(pointer);
    return set ? static_cast<std::uint64_t>(*set) * kSecondNs : otherwise_ns;
  }

  static std::set<std::string> texts(const Config& config, const std::string& list) {
    std::set<std::string> all;
    for (std::size_t i = 0;; ++i) {
      auto text = config.string(list + std::to_string(i));
      if (!text) return all;
      all.insert(std::move(*text));
    }
  }

  // Reads the state. Skips the pods while no verdict stands and no pod is restrained.
  void take_state(Situation& situation) {
    now_ns_ = situation.now_ns;
    const koord::plugin::VerdictList standing = verdicts_.list();
    if (standing.verdicts().size() == 0 && ladder_.is_empty()) return;
    const auto snapshot = Snapshot::if_known(host(), state_);
    if (!snapshot || snapshot->version(KOORD_ON_PODS) == 0) return;
    situation.pods = koord::mitigation::pods_of(snapshot->pods());
    situation.verdicts = koord::mitigation::verdicts_of(
        standing.verdicts(), koord::mitigation::pods_of_subjects(snapshot->pods()), trusted_);
    const auto missing = missing_.names(situation.now_ns);
    situation.missing_knobs = {missing.begin(), missing.end()};
    measure(situation);
  }

  // Adds the usage of the pods that a verdict blames or that are restrained.
  void measure(Situation& situation) {
    std::set<std::uint64_t> blamed;
    for (const Verdict& verdict : situation.verdicts)
      for (const auto& suspect : verdict.suspects) blamed.insert(suspect.pod);
    const auto cpus = metrics_.by_subject("pod_cpu_usage", KOORD_AGG_AVG, situation.now_ns, kUseNs);
    // Includes page cache, because memory.high limits it, too.
    const auto memory = metrics_.by_subject("pod_memory_current_bytes", KOORD_AGG_AVG, situation.now_ns, kUseNs);
    for (Pod& pod : situation.pods) {
      if (!blamed.contains(pod.handle) && !ladder_.knows(pod.handle)) continue;
      if (const auto found = cpus.find(pod.handle); found != cpus.end()) pod.cpus = found->second.value;
      if (const auto found = memory.find(pod.handle); found != memory.end()) pod.memory_bytes = found->second.value;
      pod.is_idle = is_idle(pod.cgroup_dir);
    }
  }

  // Returns whether cpu.idle is set. A kernel without cpu.idle has no idle cgroups.
  bool is_idle(const std::string& dir) const {
    char text[8] = {};
    std::uint64_t need = 0;
    return knobs_->current(host(), str("cpu.idle"), str(dir), text, sizeof text, &need) == KOORD_OK && need == 1 &&
           text[0] == '1';
  }

  // Requests an eviction. Returns false if the host refused. In that case the host has reported the reason.
  bool request(const Eviction& eviction) const {
    koord::plugin::Eviction wanted;
    wanted.pods = {eviction.pod};
    wanted.resource = eviction.resource == koord::mitigation::Resource::memory ? "memory" : "cpu";
    wanted.amount = 1;  // one pod
    wanted.reason = "step evict: it holds up " + koord::mitigation::text_of(eviction.cause, eviction.resource);
    wanted.inputs = koord::mitigation::inputs_of(eviction.cause, eviction.resource);
    wanted.inputs.emplace_back("feature", koord::mitigation::kFeature);
    try {
      evict_.request(wanted);
      return true;
    } catch (const koord::plugin::Refused& refused) {
      if (refused.status() != KOORD_E_AGAIN && refused.status() != KOORD_E_DENIED) throw;
      return false;
    }
  }

  // Records the step and its verdict for `koordctl why` and `koordctl events`.
  void record(const Change& change) const {
    const std::string what = "interference: " + std::string(koord::mitigation::name_of(change.resource)) +
                             " restraint " + std::string(koord::mitigation::name_of(change.from)) + " -> " +
                             std::string(koord::mitigation::name_of(change.to));
    audit_->record(host(), change.pod, str(what), str(change.why));
  }

  void report(const Decision& decision) {
    std::set<std::uint64_t> pods;
    for (const Restraint& restraint : decision.restraints) {
      pods.insert(restraint.pod);
      const std::string resource(koord::mitigation::name_of(restraint.resource));
      const std::uint64_t series = steps_.of(std::to_string(restraint.pod) + resource, [&] {
        return step_.series(restraint.pod, {{"resource", resource}});
      });
      batch_.add(series, static_cast<double>(restraint.step));
    }
    steps_.end_others();
    batch_.add(restrained_, static_cast<double>(pods.size()));
    batch_.send(now_ns_);
    for (const auto& [pod, why] : decision.left_alone)
      if (left_alone_.update(pod, why) == ProblemTracker::Change::begun)
        log(KOORD_LOG_INFO, "pod " + pod + " holds up others and is not restrained: " + why);
  }

  const koord_svc_state* state_ = nullptr;
  const koord_svc_knobs* knobs_ = nullptr;
  koord::plugin::Verdicts verdicts_;
  koord::plugin::Evict evict_;
  const koord_svc_audit* audit_ = nullptr;
  const koord_svc_config* config_ = nullptr;
  MetricQuery metrics_;
  koord::plugin::Batch batch_;
  koord::node::LiveSeries steps_;
  koord::plugin::Metric step_;
  std::uint64_t restrained_ = 0, now_ns_ = 0;
  Trusted trusted_;
  Ladder ladder_;
  koord::strategy::MissingKnobs missing_;
  koord::strategy::Refusals refusals_;
  ProblemTracker left_alone_;
};

}  // namespace

KOORD_PLUGIN("id=qos-interference\nversion=1.0.0\nkinds=koord.qos-strategy/1\n"
             "gate=InterferenceMitigation\nstage=alpha\ndefault=false\n"
             "requires=koord.audit/1,koord.config/1,koord.evict/1,koord.knobs/1,koord.metrics/1,koord.state/1,"
             "koord.verdict/1\n"
             "license=Apache-2.0\n"
             "description=Restrains pods of a lower class that hold up others\n",
             koord::plugin::qos_strategy<InterferenceMitigation>("interference-mitigation", kPeriod, kSchema))
