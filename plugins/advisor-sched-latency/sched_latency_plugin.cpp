// SPDX-License-Identifier: Apache-2.0
// advisor-sched-latency: how long the threads of the node, of every pod and of every container wait for a
// CPU.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-sched-latency/sched_latency_probe.hpp"
#include "plugins/shared/latency/latency_series.hpp"
#include "plugins/shared/latency/level_series.hpp"
#include "plugins/shared/latency/measurement_series.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/result/value_or_fail.hpp"
#include "plugins/shared/settings/joined.hpp"
#include "plugins/shared/tracing/plugin_marker.hpp"

namespace {

using namespace std::chrono_literals;
using koord::latency::CgroupTree;
using koord::latency::CumulativeCounts;
using koord::latency::Histogram;
using koord::latency::LatencyMetrics;
using koord::latency::LatencySeries;
using koord::latency::LevelSeries;
using koord::latency::MeasurementSeries;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::value_or_fail;
using koord::sched_latency::Probe;
using koord::sched_latency::ProbeOptions;
using koord::sched_latency::Reading;
using koord::sched_latency::Source;

constexpr auto kConfigSchema = koord::settings::joined(R"({
  "type": "object", "additionalProperties": false, "properties": {)",
                                                       koord::tracing::kMarkerSettings, R"(,
    "source": {"enum": ["sched_info", "task_storage", "raw_tracepoint", "schedstat"],
               "description": "use this source or none; default: the cheapest that the kernel accepts"},
    "slots": {"type": "integer", "minimum": 2, "maximum": 65535,
              "description": "maximum number of cgroups measured separately; default: as many as 16 MiB of kernel memory hold"},
    "btf": {"type": "string", "description": "file with the kernel's types, if the kernel itself has none"}
  }})");

LatencyMetrics metrics_of(const koord_host* host, const std::string& level) {
  return {host,
          {level + "_sched",
           "the threads of a " + level + " waited for a CPU before they ran, time throttled by a CPU quota included",
           {50, 95, 99}}};
}

class SchedLatency final : public koord::plugin::Advisor {
 public:
  void init() override {
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    batch_ = Batch(host());
    series_ = {metrics_of(host(), "container"), metrics_of(host(), "pod"), metrics_of(host(), "node")};
    itself_ = MeasurementSeries(host(), "sched", "waits");
    const koord::NodeRoots roots = koord::node::roots_of(host());
    tree_ = std::make_unique<CgroupTree>(
        value_or_fail(CgroupTree::find("cpu", roots.cgroup, roots.proc), KOORD_E_UNSUPPORTED));
    open_probe(roots.proc);
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    const Reading reading = value_or_fail(probe_->read(series_.follow(host(), state_, *tree_)));
    CumulativeCounts counts;
    series_.report(reading,
                   [&](LatencySeries& series, const Histogram& window) { series.report(window, batch_, counts); });
    itself_.report(reading, reading.unassigned.value_or(Histogram{}).count, batch_);
    batch_.send(now_ns);
  }

 private:
  void open_probe(const std::string& proc) {
    marker_ = koord::tracing::mark_tracing(host(), "advisor-sched-latency", proc);
    auto opened = value_or_fail(koord::sched_latency::open_probe(*tree_, options(proc)), KOORD_E_UNSUPPORTED);
    for (const auto& refusal : opened.refused)
      log(KOORD_LOG_INFO, "source '" + std::string(name_of(refusal.source)) + "' is not available: " + refusal.why);
    probe_ = std::move(opened.probe);
    if (probe_->source() == Source::schedstat) marker_.reset();  // has nothing in the kernel
    itself_.set_source(name_of(probe_->source()));
    log(KOORD_LOG_INFO, "reading scheduling latency from '" + std::string(name_of(probe_->source())) + "'");
  }

  ProbeOptions options(const std::string& proc) const {
    const koord::plugin::Config config(host());
    ProbeOptions options;
    options.proc = proc;
    options.btf = config.string("/btf").value_or("");
    options.slots = static_cast<std::uint32_t>(config.i64("/slots").value_or(0));
    if (auto wanted = config.string("/source")) {
      options.only = koord::sched_latency::source_of(*wanted);
      if (!options.only) throw Failure(KOORD_E_INVALID, "source: '" + *wanted + "' is not a source");
    }
    return options;
  }

  const koord_svc_state* state_ = nullptr;
  MeasurementSeries itself_;
  std::unique_ptr<CgroupTree> tree_;
  std::optional<koord::tracing::TracingMarker> marker_;  // outlives the programs
  std::unique_ptr<Probe> probe_;
  LevelSeries<Histogram, LatencyMetrics, LatencySeries> series_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-sched-latency\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=SchedLatencyCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.state/1,koord.fs/1,koord.config/1\noptional=koord.audit/1\n"
             "license=Apache-2.0\n"
             "description=How long threads wait for a CPU, per node, pod and container\n",
             koord::plugin::advisor<SchedLatency>("sched-latency", 5s, kConfigSchema.data()))
