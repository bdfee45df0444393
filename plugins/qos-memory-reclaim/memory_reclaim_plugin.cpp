// SPDX-License-Identifier: Apache-2.0
// qos-memory-reclaim: reclaims page cache that best-effort pods do not need, in small steps.
#include <optional>
#include <string>

#include "plugins/qos-memory-reclaim/pods.hpp"
#include "plugins/shared/strategy/proposal.hpp"
#include "plugins/shared/strategy/refusals.hpp"

namespace {

using namespace std::chrono_literals;
using koord::memory_reclaim::Pods;
using koord::memory_reclaim::Settings;
using koord::plugin::Config;
using koord::plugin::require;
using koord::plugin::Snapshot;
using koord::plugin::Strided;
using koord::plugin::view;

constexpr auto kPeriod = 10s;
constexpr auto kHolds = 2 * kPeriod;

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "pressurePercent": {"type": "number", "minimum": 0.01, "maximum": 50,
      "description": "how long a pod's tasks may stall for lack of memory, in percent of the time; default: 1"},
    "refaultPercent": {"type": "number", "minimum": 1, "maximum": 100,
      "description": "how much of what was taken may be needed again within ten seconds; default: 20"}
  }})";

constexpr std::string_view kKnob = "memory.reclaim", kCapability = "memory_reclaim";
constexpr std::string_view kNoKnob =
    "the kernel has no memory.reclaim: it is there since Linux 5.19, on cgroup v2 only";
constexpr std::string_view kBlind = "no pod's memory pressure can be read, and nothing is reclaimed blindly";

class MemoryReclaim final : public koord::plugin::QosStrategy {
 public:
  void init() override {
    state_ = require<koord_svc_state>(host(), "koord.state/1");
    knobs_ = require<koord_svc_knobs>(host(), "koord.knobs/1");
    capabilities_ = require<koord_svc_capabilities>(host(), "koord.capabilities/1");
    const auto* metrics = static_cast<const koord_svc_metrics*>(host()->get_service(host(), "koord.metrics/1"));
    pods_ = Pods(host(), require<koord_svc_cgroup>(host(), "koord.cgroup/1"), metrics);
    read_config();
  }

  void on_event(std::uint32_t what, std::uint64_t) override {
    if (what == KOORD_ON_CONFIG) read_config();
  }

  void evaluate(std::uint64_t now_ns, std::uint64_t) override {
    now_ns_ = now_ns;
    pods_.follow(Snapshot(host(), state_));
    const bool missing = missing_.missing(kKnob, now_ns);
    const koord::strategy::Intents intents = missing ? koord::strategy::Intents{} : pods_.intents(now_ns, settings_);
    if (pods_.any()) report(missing ? kNoKnob : pods_.blind() ? kBlind : std::string_view());
    koord::strategy::propose(host(), knobs_, intents, kHolds);
  }

  void on_applied(Strided<koord_intent_result> results) override {
    missing_.learn(results, now_ns_);
    for (const koord_intent_result& result : results) pods_.learn(result);
    for (const std::string& line : refusals_.new_lines(results)) log(KOORD_LOG_INFO, line);
  }

 private:
  void read_config() {
    const Config config(host());
    const Settings defaults;
    settings_.pressure_percent = config.f64("/pressurePercent").value_or(defaults.pressure_percent);
    settings_.refault_percent = config.f64("/refaultPercent").value_or(defaults.refault_percent);
  }

  // Reports what is missing; "": nothing is missing.
  void report(std::string_view lack) {
    if (reported_ == lack) return;
    reported_ = lack;
    const std::uint32_t state = lack.empty() ? KOORD_CAPABILITY_SUPPORTED : KOORD_CAPABILITY_ABSENT;
    capabilities_->report(host(), koord::plugin::str(kCapability), state, koord::plugin::str(lack));
    if (!lack.empty()) log(KOORD_LOG_WARN, lack);
  }

  const koord_svc_state* state_ = nullptr;
  const koord_svc_knobs* knobs_ = nullptr;
  const koord_svc_capabilities* capabilities_ = nullptr;
  Settings settings_;
  Pods pods_;
  koord::strategy::MissingKnobs missing_;
  koord::strategy::Refusals refusals_;
  std::optional<std::string> reported_;
  std::uint64_t now_ns_ = 0;
};

}  // namespace

KOORD_PLUGIN("id=qos-memory-reclaim\n"
             "version=1.0.0\n"
             "kinds=koord.qos-strategy/1\n"
             "gate=MemoryReclaim\n"
             "requires=koord.capabilities/1,koord.cgroup/1,koord.config/1,koord.knobs/1,koord.state/1\n"
             "optional=koord.metrics/1\n"
             "license=Apache-2.0\n"
             "description=takes page cache that best-effort pods can do without\n",
             koord::plugin::qos_strategy<MemoryReclaim>("memory-reclaim", kPeriod, kConfigSchema))
