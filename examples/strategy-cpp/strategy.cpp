// SPDX-License-Identifier: Apache-2.0
// The plugin that uses ceiling.hpp, and the only file that calls the host. It reads the node's CPU usage, CPUs and
// pods, and proposes the plan. The host selects the winning intent, writes and reverts.
#include <chrono>
#include <cstdint>
#include <koordetector/plugin.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ceiling.hpp"
#include "refusals.hpp"

using namespace koord::plugin;

namespace {

// Checked before the plugin is created, and before it gets a new configuration.
constexpr char kSchema[] = R"json({
  "type": "object",
  "properties": {
    "busyPercent": {"type": "number", "minimum": 0, "maximum": 100},
    "ceilingMilliCores": {"type": "integer", "minimum": 10, "maximum": 1000000},
    "windowSeconds": {"type": "integer", "minimum": 1, "maximum": 3600}
  },
  "additionalProperties": false
})json";

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::chrono::seconds kHoldsFor(60);  // an intent that is not proposed again is withdrawn

}  // namespace

class CeilingStrategy : public QosStrategy {
 public:
  // Called once, before the first evaluate(). If it throws, the plugin does not run.
  void init() override {
    state_ = require<koord_svc_state>(host(), "koord.state/1");
    history_ = History(host());
    knobs_ = Knobs(host());
    read_config();
  }

  void on_event(std::uint32_t what, std::uint64_t /*version*/) override {
    if (what == KOORD_ON_CONFIG) read_config();
  }

  // Called every period. An empty plan withdraws the previous plan.
  void evaluate(std::uint64_t now_ns, std::uint64_t /*deadline_ns*/) override {
    const Inputs now = inputs(now_ns);
    refusals_.keep_only(now.best_effort);
    propose(plan(now, settings_));
  }

  // Reports for each cgroup why it has a different value. Each reason is reported once, and again after it has changed.
  void on_applied(Strided<koord_intent_result> results) override {
    for (const koord_intent_result& result : results)
      if (auto line =
              refusals_.new_line(std::string(view(result.cgroup_dir)), result.status, std::string(view(result.winner))))
        log(KOORD_LOG_INFO, *line);
  }

 private:
  void read_config() {
    const Config config(host());
    const Settings defaults;
    settings_.busy_percent = config.f64("/busyPercent").value_or(defaults.busy_percent);
    settings_.ceiling_milli_cores = config.i64("/ceilingMilliCores").value_or(defaults.ceiling_milli_cores);
    window_ns_ = static_cast<std::uint64_t>(config.i64("/windowSeconds").value_or(60)) * kSecond;
  }

  Inputs inputs(std::uint64_t now_ns) const {
    Inputs inputs;
    inputs.usage_cores = average_usage(now_ns);
    const Snapshot snapshot(host(), state_);
    if (const koord_topology* topology = snapshot.topology())
      for (const koord_cpu& cpu : Strided<koord_cpu>(topology->cpus, topology->n_cpus, topology->cpu_stride))
        inputs.cpus += (cpu.flags & KOORD_CPU_ONLINE) != 0;
    for (const koord_pod& pod : snapshot.pods())
      if (pod.qos == KOORD_QOS_BE && pod.phase == KOORD_PHASE_RUNNING && pod.cgroup_dir.n > 0)
        inputs.best_effort.emplace_back(view(pod.cgroup_dir));
    return inputs;
  }

  // Returns the average over the window, whichever plugin measures it; nullopt if no plugin does.
  std::optional<double> average_usage(std::uint64_t now_ns) const {
    Query query;
    query.metric = "node_cpu_usage";
    query.aggregation = KOORD_AGG_AVG;
    query.from_ns = now_ns > window_ns_ ? now_ns - window_ns_ : 0;
    for (const koord_agg_row& row : history_.aggregate(query))
      if (row.series != 0) return row.value;  // other series have ended
    return std::nullopt;
  }

  void propose(const Plan& plan) {
    std::vector<Intent> intents;
    for (const std::string& cgroup : plan.cgroups) {
      Intent intent;
      intent.level = KOORD_LEVEL_POD;
      intent.knob = "cpu.max";
      intent.cgroup_dir = cgroup;
      intent.value = plan.cpu_max;
      intent.reason = plan.reason;
      intent.inputs.assign(plan.inputs.begin(), plan.inputs.end());
      intent.ttl = kHoldsFor;
      intents.push_back(std::move(intent));
    }
    knobs_.propose(intents);
  }

  const koord_svc_state* state_ = nullptr;
  History history_;
  Knobs knobs_;
  Settings settings_;
  std::uint64_t window_ns_ = 0;
  Refusals refusals_;
};

KOORD_PLUGIN("id=com.example.ceiling\n"
             "version=1.0.0\n"
             "kinds=koord.qos-strategy/1\n"
             "gate=CeilingExample\n"
             "requires=koord.config/1,koord.knobs/1,koord.metrics/1,koord.state/1\n"
             "license=Apache-2.0\n"
             "description=a ceiling for best-effort pods while the node is busy\n",
             qos_strategy<CeilingStrategy>("ceiling", std::chrono::seconds(10), kSchema))
