// SPDX-License-Identifier: Apache-2.0
// qos-cgroup-reconcile: memory protection, throttling and ranks of pods by their class (Koordinator's memory QoS).
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/qos-cgroup-reconcile/high_intents.hpp"
#include "plugins/qos-cgroup-reconcile/pod_inputs.hpp"
#include "plugins/shared/strategy/proposal.hpp"
#include "plugins/shared/strategy/refusals.hpp"
#include "plugins/shared/strategy/slo_of_node.hpp"

namespace {

using namespace std::chrono_literals;
using namespace koord::cgroup_reconcile;
using koord::plugin::Config;
using koord::plugin::require;
using koord::plugin::Snapshot;
using koord::plugin::Strided;

constexpr auto kPeriod = 1s;
constexpr auto kHolds = 10 * kPeriod;

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "pressurePercent": {"type": "number", "minimum": 1, "maximum": 100,
      "description": "memory.high of a container is raised while its tasks stall longer than this for lack of memory; default: 10"},
    "calmSeconds": {"type": "integer", "minimum": 10, "maximum": 3600,
      "description": "how long a container must be calm before memory.high goes down again; default: 60"}
  }})";

constexpr std::string_view kCapability = "memory_high_watchdog";
constexpr std::string_view kBlind =
    "no container's memory pressure can be read: memory.high only comes down, and a value that is too low is not "
    "detected";

class CgroupReconcile final : public koord::plugin::QosStrategy {
 public:
  void init() override {
    state_ = require<koord_svc_state>(host(), "koord.state/1");
    knobs_ = require<koord_svc_knobs>(host(), "koord.knobs/1");
    capabilities_ = require<koord_svc_capabilities>(host(), "koord.capabilities/1");
    highs_ = HighIntents(host(), require<koord_svc_cgroup>(host(), "koord.cgroup/1"));
    read_config();
  }

  void on_event(std::uint32_t what, std::uint64_t) override {
    if (what == KOORD_ON_CONFIG) read_config();
  }

  void evaluate(std::uint64_t now_ns, std::uint64_t) override {
    now_ns_ = now_ns;
    follow(Snapshot(host(), state_));
    const koord::strategy::Intents& highs = highs_.intents(now_ns, guard_, page_size_);
    report_watchdog();
    koord::strategy::propose(host(), knobs_, intents_, kHolds);
    koord::strategy::propose(host(), knobs_, highs, kHolds);
  }

  void on_applied(Strided<koord_intent_result> results) override {
    missing_.learn(results, now_ns_);
    for (const std::string& line : refusals_.new_lines(results)) log(KOORD_LOG_INFO, line);
  }

 private:
  void read_config() {
    const Config config(host());
    guard_ = {};
    guard_.pressure_percent = config.f64("/pressurePercent").value_or(guard_.pressure_percent);
    if (const auto calm = config.i64("/calmSeconds")) guard_.calm = std::chrono::seconds(*calm);
  }

  // Makes the part of the plan that depends only on the state and on the existing knobs, once for each change.
  void follow(const Snapshot& snapshot) {
    for (const std::string& problem : slo_.follow(snapshot)) log(KOORD_LOG_WARN, problem + ", ignoring");
    if (const std::string line = slo_.new_line(now_ns_); !line.empty()) log(KOORD_LOG_INFO, line);
    Basis basis = {snapshot.version(KOORD_ON_NODE), snapshot.version(KOORD_ON_PODS),
                   snapshot.version(KOORD_ON_NODE_SLO), missing_.names(now_ns_)};
    if (basis == basis_) return;
    basis_ = std::move(basis);
    Plan planned;
    const koord::slo::NodeSlo* slo = slo_.get();
    if (slo && slo->resource_qos) {
      Inputs inputs = inputs_of(snapshot, page_size_);
      inputs.missing_knobs = {basis_.missing.begin(), basis_.missing.end()};
      inputs.most_intents = koord::strategy::kMostIntents;
      planned = plan(*slo->resource_qos, inputs);
    }
    log_problems(planned.problems);
    intents_ = std::move(planned.intents);
    highs_.follow(std::move(planned.highs));
  }

  void log_problems(const koord::slo::Problems& problems) {
    for (const std::string& problem : problems)
      if (std::find(problems_.begin(), problems_.end(), problem) == problems_.end())
        log(KOORD_LOG_WARN, problem + ", ignoring");
    problems_ = problems;
  }

  void report_watchdog() {
    if (!highs_.any() || reported_blind_ == highs_.blind()) return;
    reported_blind_ = highs_.blind();
    const std::string_view detail = highs_.blind() ? kBlind : std::string_view();
    const std::uint32_t state = highs_.blind() ? KOORD_CAPABILITY_ABSENT : KOORD_CAPABILITY_SUPPORTED;
    capabilities_->report(host(), koord::plugin::str(kCapability), state, koord::plugin::str(detail));
    if (highs_.blind()) log(KOORD_LOG_WARN, detail);
  }

  // The inputs that the plan was made from.
  struct Basis {
    std::uint64_t node = 0, pods = 0, slo = 0;
    std::vector<std::string> missing;
    bool operator==(const Basis&) const = default;
  };

  const koord_svc_state* state_ = nullptr;
  const koord_svc_knobs* knobs_ = nullptr;
  const koord_svc_capabilities* capabilities_ = nullptr;
  const std::int64_t page_size_ = ::sysconf(_SC_PAGESIZE);
  GuardSettings guard_;
  Basis basis_;
  koord::strategy::SloOfNode slo_;
  koord::strategy::Intents intents_;
  HighIntents highs_;
  koord::slo::Problems problems_;
  koord::strategy::MissingKnobs missing_;
  koord::strategy::Refusals refusals_;
  std::optional<bool> reported_blind_;
  std::uint64_t now_ns_ = 0;
};

}  // namespace

KOORD_PLUGIN("id=qos-cgroup-reconcile\n"
             "version=1.0.0\n"
             "kinds=koord.qos-strategy/1\n"
             "gate=CgroupReconcile\n"
             "requires=koord.capabilities/1,koord.cgroup/1,koord.config/1,koord.knobs/1,koord.state/1\n"
             "license=Apache-2.0\n"
             "description=memory protection, throttling and ranks of pods by their QoS class\n",
             koord::plugin::qos_strategy<CgroupReconcile>("cgroup-reconcile", kPeriod, kConfigSchema))
