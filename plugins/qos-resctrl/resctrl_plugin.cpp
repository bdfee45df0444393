// SPDX-License-Identifier: Apache-2.0
// qos-resctrl: assigns parts of the last-level cache and of the memory bandwidth to QoS classes and pods.
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "core/base/problem_tracker.hpp"
#include "koordetector/plugin.hpp"
#include "plugins/qos-resctrl/resctrl.hpp"
#include "plugins/qos-resctrl/resctrl_tree.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/strategy/proposal.hpp"
#include "plugins/shared/strategy/refusals.hpp"
#include "plugins/shared/strategy/slo_of_node.hpp"

namespace {

using namespace std::chrono_literals;
using koord::plugin::Config;
using koord::plugin::Snapshot;
using koord::plugin::Strided;
using koord::plugin::view;

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "amdDomainGBps": {"type": "integer", "minimum": 1, "maximum": 100000,
                      "description": "on AMD: 100 % of the memory bandwidth of an L3 domain, GB/s; default: 20"},
    "domainMegabytes": {"type": "integer", "minimum": 1, "maximum": 100000000,
                        "description": "if resctrl is mounted with mba_MBps: 100 % of a domain, MiB/s"}
  }})";

constexpr std::chrono::nanoseconds kPeriod = 5s, kHoldsFor = 30s;

class Resctrl final : public koord::plugin::QosStrategy {
 public:
  void init() override {
    knobs_ = koord::plugin::require<koord_svc_knobs>(host(), "koord.knobs/1");
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    roots_ = koord::node::roots_of(host());
    auto hardware = koord::rdt::read_hardware(roots_);
    if (!hardware) throw koord::plugin::Failure(KOORD_E_UNSUPPORTED, hardware.error().text);
    hardware_ = *std::move(hardware);
    report_parts();
    read_config();
  }

  void on_event(std::uint32_t what, std::uint64_t) override {
    if (what == KOORD_ON_CONFIG) read_config();
  }

  void evaluate(std::uint64_t now_ns, std::uint64_t) override {
    const std::optional<Snapshot> snapshot = Snapshot::if_known(host(), state_);
    koord::slo::Problems problems = snapshot ? slo_.follow(*snapshot) : koord::slo::Problems{};
    if (const std::string line = snapshot ? slo_.new_line(now_ns) : ""; !line.empty()) log(KOORD_LOG_INFO, line);
    if (!snapshot || !slo_.get()) return koord::strategy::propose(host(), knobs_, {}, kHoldsFor);
    follow(*snapshot, now_ns);
    problems.insert(problems.end(), plan_.problems.begin(), plan_.problems.end());
    log_problems(problems);
    koord::strategy::propose(host(), knobs_, plan_.intents, kHoldsFor);
  }

  void on_applied(Strided<koord_intent_result> results) override {
    for (const std::string& line : refusals_.new_lines(results)) log(KOORD_LOG_WARN, line);
  }

 private:
  void log_problems(const koord::slo::Problems& problems) {
    for (const std::string& problem : problems_.begun(problems)) log(KOORD_LOG_WARN, problem);
  }

  void read_config() {
    const Config config(host());
    ++config_version_;
    const koord::rdt::Settings defaults;
    settings_.amd_domain_gbps = config.i64("/amdDomainGBps").value_or(defaults.amd_domain_gbps);
    settings_.domain_megabytes = config.i64("/domainMegabytes").value_or(defaults.domain_megabytes);
  }

  void report_parts() {
    const auto* capabilities = koord::plugin::require<koord_svc_capabilities>(host(), "koord.capabilities/1");
    const auto report = [&](const char* name, bool supported, const std::string& detail) {
      const std::uint32_t state = supported ? KOORD_CAPABILITY_SUPPORTED : KOORD_CAPABILITY_ABSENT;
      capabilities->report(host(), koord::plugin::str(name), state, koord::plugin::str(detail));
    };
    const auto& l3 = hardware_.l3;
    report("resctrl_l3", l3.has_value(),
           l3 ? std::to_string(l3->ids.size()) + " caches, mask " + koord::rdt::hexadecimal(l3->mask) + ", " +
                    std::to_string(hardware_.closids) + " CLOSIDs"
              : "the CPU cannot share out its L3 cache");
    report("resctrl_mb", hardware_.bandwidth.has_value(),
           hardware_.bandwidth ? std::to_string(hardware_.bandwidth->ids.size()) + " domains, in " + unit_name()
                               : "the CPU cannot share out memory bandwidth");
  }

  std::string unit_name() const {
    switch (hardware_.bandwidth->unit) {
      case koord::rdt::BandwidthUnit::eighths:
        return "eighths of GB/s";
      case koord::rdt::BandwidthUnit::megabytes:
        return "MiB/s";
      default:
        return "percent";
    }
  }

  // The inputs that the plan was made from.
  struct Basis {
    std::uint64_t pods = 0, slo = 0, config = 0;
    std::vector<std::string> groups;
    std::set<std::string> stale;
    bool operator==(const Basis&) const = default;
  };

  void follow(const Snapshot& snapshot, std::uint64_t now_ns) {
    Basis basis{snapshot.version(KOORD_ON_PODS),
                snapshot.version(KOORD_ON_NODE_SLO),
                config_version_,
                koord::rdt::read_groups(roots_.resctrl),
                {}};
    if (basis.pods != 0) basis.stale = stale_.update(basis.groups, plan_.intents, now_ns);
    if (basis == basis_) return;
    basis_ = std::move(basis);
    koord::slo::Problems problems;
    plan_ = koord::rdt::plan(inputs(snapshot, problems));
    plan_.problems.insert(plan_.problems.begin(), problems.begin(), problems.end());
  }

  koord::rdt::Inputs inputs(const Snapshot& snapshot, koord::slo::Problems& problems) const {
    koord::rdt::Inputs inputs;
    inputs.hardware = &hardware_;
    if (slo_.get()->resource_qos) inputs.strategy = &*slo_.get()->resource_qos;
    inputs.groups = basis_.groups;
    inputs.stale = basis_.stale;
    inputs.settings = settings_;
    for (const koord_pod& pod : snapshot.pods()) add_pod(pod, inputs, problems);
    return inputs;
  }

  static void add_pod(const koord_pod& pod, koord::rdt::Inputs& inputs, koord::slo::Problems& problems) {
    if (pod.phase != KOORD_PHASE_RUNNING || pod.cgroup_dir.n == 0) return;
    const std::string name = std::string(view(pod.ns)) + "/" + std::string(view(pod.name));
    koord::slo::Problems wrong;
    auto own = koord::slo::resctrl_of(koord::slo::annotation_of(pod, koord::slo::kResctrlAnnotation), wrong);
    for (const std::string& problem : wrong) problems.push_back("pod " + name + ": " + problem);
    inputs.pods.push_back(
        {std::string(view(pod.uid)), name, std::string(view(pod.cgroup_dir)), pod.qos, std::move(own)});
  }

  const koord_svc_knobs* knobs_ = nullptr;
  const koord_svc_state* state_ = nullptr;
  koord::NodeRoots roots_;
  koord::rdt::Hardware hardware_;
  koord::rdt::Settings settings_;
  koord::rdt::StaleGroups stale_;
  std::uint64_t config_version_ = 0;
  Basis basis_;
  koord::rdt::Plan plan_;
  koord::strategy::SloOfNode slo_;
  koord::strategy::Refusals refusals_;
  koord::ProblemTracker problems_;
};

}  // namespace

KOORD_PLUGIN("id=qos-resctrl\nversion=1.0.0\nkinds=koord.qos-strategy/1\n"
             "gate=RdtResctrl\nstage=alpha\ndefault=false\n"
             "requires=koord.knobs/1,koord.state/1,koord.fs/1,koord.config/1,koord.capabilities/1\nlicense=Apache-2.0\n"
             "description=Parts of the last-level cache and of memory bandwidth for QoS classes and pods\n",
             koord::plugin::qos_strategy<Resctrl>("resctrl", kPeriod, kConfigSchema))
