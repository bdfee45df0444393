// SPDX-License-Identifier: Apache-2.0
// advisor-psi: reports pressure stall information of the node, of pods, containers and services.
#include <algorithm>
#include <optional>
#include <string>

#include "koordetector/subjects.hpp"
#include "plugins/advisor-psi/psi_meter.hpp"
#include "plugins/advisor-psi/psi_series.hpp"

namespace {

using namespace std::chrono_literals;
using koord::plugin::Batch;
using koord::plugin::Config;
using koord::plugin::Failure;
using koord::plugin::Files;
using koord::plugin::Refused;
using koord::plugin::Snapshot;
using koord::plugin::Subject;
using koord::plugin::Subjects;
using koord::psi::CgroupMeter;
using koord::psi::CgroupPressure;
using koord::psi::kPrecisions;
using koord::psi::kResources;
using koord::psi::LevelMetrics;
using koord::psi::PressureSeries;
using koord::psi::Resource;
using koord::psi::Selection;

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "precisions": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"enum": [10, 60, 300]},
                   "description": "averages of pods and containers, in seconds; default: [10]"},
    "ratio": {"enum": ["node", "pod", "container"],
              "description": "the deepest level with psi_stalled_ratio; default: pod"}
  }})";

constexpr std::string_view kCapability = "container_psi";

class Psi final : public koord::plugin::Advisor {
 public:
  void init() override {
    files_ = Files(host());
    require_psi();
    cgroup_ = koord::plugin::require<koord_svc_cgroup>(host(), "koord.cgroup/1");
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    clock_ = koord::plugin::require<koord_svc_clock>(host(), "koord.clock/1");
    capabilities_ = koord::plugin::require<koord_svc_capabilities>(host(), "koord.capabilities/1");
    batch_ = Batch(host());
    select(Config(host()));
    node_metrics_ = {host(), "node"};
    pod_metrics_ = {host(), "pod"};
    container_metrics_ = {host(), "container"};
    node_.emplace(node_metrics_, node_selection_, KOORD_NO_SUBJECT);
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    std::optional<Failure> failure = measure_node();
    // Measures the node even while the pods are unknown.
    if (auto snapshot = Snapshot::if_known(host(), state_))
      meters_.follow(*snapshot, [this](const Subject& subject) { return meter_of(subject); });
    CgroupPressure found = CgroupPressure::unknown;
    auto of_cgroups = meters_.for_each([&](CgroupMeter& meter, std::string_view dir) {
      meter.measure(host(), cgroup_, dir, now_ns, batch_);
      found = std::max(found, meter.found());
    });
    if (of_cgroups) failure = of_cgroups;
    report(found);
    batch_.send(now_ns);
    if (failure) throw *failure;
  }

 private:
  // Throws if PSI is switched off. In that case older kernels have the files but refuse reads, and newer kernels do not
  // have the files.
  void require_psi() const {
    try {
      files_.read(KOORD_ROOT_PROC, node_file_of(Resource::cpu));
    } catch (const Refused& refused) {
      if (refused.status() == KOORD_E_NOT_FOUND)
        throw Failure(KOORD_E_UNSUPPORTED,
                      "there is no /proc/pressure: the kernel was built without CONFIG_PSI, or not booted with psi=1");
      if (refused.status() == KOORD_E_UNSUPPORTED)
        throw Failure(KOORD_E_UNSUPPORTED, "the kernel's pressure stall information is off; boot with psi=1");
      throw;
    }
  }

  void select(const Config& config) {
    Selection selected;
    for (std::size_t i = 0; auto seconds = config.i64("/precisions/" + std::to_string(i)); ++i) {
      const auto at = std::find(kPrecisions.begin(), kPrecisions.end(), *seconds);
      if (at != kPrecisions.end()) selected.precisions.push_back(static_cast<std::size_t>(at - kPrecisions.begin()));
    }
    if (selected.precisions.empty()) selected.precisions = {0};
    const std::string ratio = config.string("/ratio").value_or("pod");
    pod_selection_ = container_selection_ = selected;
    pod_selection_.ratio = ratio != "node";
    container_selection_.ratio = ratio == "container";
    node_selection_ = {{0, 1, 2}, true, false, false};
  }

  std::optional<Failure> measure_node() {
    std::optional<Failure> failure;
    for (Resource resource : kResources) {
      try {
        const std::string text = files_.read(KOORD_ROOT_PROC, node_file_of(resource));
        node_->report(resource, koord::psi::parse_pressure(text), clock_->now_ns(host()), batch_);
      } catch (const Failure& failed) {
        failure = failed;
      }
    }
    return failure;
  }

  CgroupMeter meter_of(const Subject& subject) const {
    if (subject.is_pod()) return CgroupMeter(PressureSeries(pod_metrics_, pod_selection_, subject.handle));
    return CgroupMeter(PressureSeries(container_metrics_, container_selection_, subject.handle));
  }

  void report(CgroupPressure found) {
    if (found <= reported_) return;
    const bool supported = found == CgroupPressure::supported;
    const std::string_view detail =
        supported ? "cgroups have pressure files" : "cgroups have no pressure files here: only the node is measured";
    capabilities_->report(host(), koord::plugin::str(kCapability),
                          supported ? KOORD_CAPABILITY_SUPPORTED : KOORD_CAPABILITY_ABSENT, koord::plugin::str(detail));
    if (!supported) log(KOORD_LOG_INFO, detail);
    reported_ = found;
  }

  Files files_;
  const koord_svc_cgroup* cgroup_ = nullptr;
  const koord_svc_state* state_ = nullptr;
  const koord_svc_clock* clock_ = nullptr;
  const koord_svc_capabilities* capabilities_ = nullptr;
  LevelMetrics node_metrics_, pod_metrics_, container_metrics_;
  Selection node_selection_, pod_selection_, container_selection_;
  std::optional<PressureSeries> node_;
  Subjects<CgroupMeter> meters_;
  CgroupPressure reported_ = CgroupPressure::unknown;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN(
    "id=advisor-psi\nversion=1.0.0\nkinds=koord.advisor/1\n"
    "gate=PSICollector\nstage=beta\ndefault=true\n"
    "requires=koord.metrics/1,koord.state/1,koord.cgroup/1,koord.fs/1,koord.clock/1,koord.config/1,koord.capabilities/1\n"
    "license=Apache-2.0\n"
    "description=Pressure stall information of the node, of pods and containers\n",
    koord::plugin::advisor<Psi>("psi", 10s, kConfigSchema))
