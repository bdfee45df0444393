// @NAME@: limits the CPU time of every best-effort pod.
// evaluate() only proposes; the agent decides, writes and reverts. The contract is sdk/koordetector/plugin.h.
#include <koordetector/plugin.hpp>

using namespace koord::plugin;

namespace {

constexpr char kSettings[] = R"({
  "type": "object",
  "properties": {"milliCores": {"type": "integer", "minimum": 10, "maximum": 1000000,
                                "description": "what a best-effort pod may use at most"}},
  "additionalProperties": false
})";

// Returns "quota period" for cpu.max, in microseconds.
std::string cpu_max(std::int64_t milli_cores) { return std::to_string(milli_cores * 100) + " 100000"; }

struct Ceiling : QosStrategy {
  void init() override {
    state_ = require<koord_svc_state>(host(), "koord.state/1");
    knobs_ = require<koord_svc_knobs>(host(), "koord.knobs/1");
    on_event(KOORD_ON_CONFIG, 0);
  }

  // Called at start, and when an operator has changed the settings.
  void on_event(std::uint32_t what, std::uint64_t /*version*/) override {
    if (what == KOORD_ON_CONFIG) ceiling_ = cpu_max(Config(host()).i64("/milliCores").value_or(500));
  }

  // Called every period. All intents of one call are one plan, which replaces the previous plan.
  void evaluate(std::uint64_t /*now_ns*/, std::uint64_t /*deadline_ns*/) override {
    const Snapshot snapshot(host(), state_);
    std::vector<koord_intent> plan;
    for (const koord_pod& pod : snapshot.pods())
      if (pod.kube_qos == KOORD_KUBE_QOS_BEST_EFFORT && pod.cgroup_dir.n > 0) plan.push_back(ceiling_of(pod));
    check(knobs_->propose(host(), plan.data(), static_cast<std::uint32_t>(plan.size()), sizeof(koord_intent)),
          "proposing a ceiling");
  }

  koord_intent ceiling_of(const koord_pod& pod) const {
    koord_intent intent{};
    intent.struct_size = sizeof intent;
    intent.level = KOORD_LEVEL_POD;
    intent.knob = str("cpu.max");
    intent.cgroup_dir = pod.cgroup_dir;
    intent.value = str(ceiling_);
    intent.reason = str("best-effort pods have a ceiling");
    intent.ttl_ns = 60'000'000'000;  // withdrawn unless it is proposed again within this time
    return intent;
  }

  const koord_svc_state* state_ = nullptr;
  const koord_svc_knobs* knobs_ = nullptr;
  std::string ceiling_;
};

}  // namespace

KOORD_PLUGIN("id=@ID@\n"
             "version=0.1.0\n"
             "kinds=koord.qos-strategy/1\n"
             "gate=@GATE@\n"
             "requires=koord.state/1,koord.knobs/1,koord.config/1\n"
             "description=a ceiling of CPU time for best-effort pods\n",
             qos_strategy<Ceiling>("ceiling", std::chrono::seconds(10), kSettings))
