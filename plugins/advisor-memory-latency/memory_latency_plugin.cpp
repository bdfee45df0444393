// SPDX-License-Identifier: Apache-2.0
// advisor-memory-latency: measures how long the threads of the node, each pod and each container are stalled by memory
// reclaim and compaction.
#include <optional>
#include <string>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-memory-latency/memory_latency_probe.hpp"
#include "plugins/advisor-memory-latency/memory_series.hpp"
#include "plugins/shared/bpf/plugin_marker.hpp"
#include "plugins/shared/latency/level_series.hpp"
#include "plugins/shared/latency/measurement_series.hpp"
#include "plugins/shared/latency/slot_config.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/sdk/joined.hpp"
#include "plugins/shared/sdk/value_or_fail.hpp"

namespace {

using namespace std::chrono_literals;
using koord::latency::CgroupTree;
using koord::memory_latency::MemoryLatencyProbe;
using koord::memory_latency::MemoryMetrics;
using koord::memory_latency::MemorySeries;
using koord::memory_latency::Reading;
using koord::memory_latency::Stalls;
using koord::plugin::value_or_fail;

constexpr auto kConfigSchema = koord::settings::joined(R"({
  "type": "object", "additionalProperties": false, "properties": {
    "histograms": {"enum": ["none", "node", "pods", "all"],
                   "description": "levels with a histogram, some 15 series each: pods includes node; default: node"},)",
                                                       koord::tracing::kMarkerSettings, R"(,
    "source": {"enum": ["task_storage", "raw_tracepoint"],
               "description": "use this source or none; default: the first that the kernel accepts"},)",
                                                       koord::latency::kSlotSettings, R"(
  }})");

class MemoryLatency final : public koord::plugin::Advisor {
 public:
  void init() override {
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    batch_ = koord::plugin::Batch(host());
    const koord::plugin::Config config(host());
    const koord::NodeRoots roots = koord::node::roots_of(host());
    tree_ = value_or_fail(CgroupTree::find("memory", roots.cgroup, roots.proc), KOORD_E_UNSUPPORTED);
    marker_ = koord::tracing::mark_tracing(host(), "advisor-memory-latency", roots.proc);
    probe_ = value_or_fail(MemoryLatencyProbe::open(*tree_, koord::latency::slot_options(config)), KOORD_E_UNSUPPORTED);
    define_metrics(koord::latency::levels(config, "/histograms"));
    koord::latency::log_source(host(), "memory latency", probe_->source(), probe_->refused());
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    const std::optional<std::uint64_t> length_ns =
        window_begin_ns_ ? std::optional(now_ns - *window_begin_ns_) : std::nullopt;
    window_begin_ns_ = now_ns;
    series_.follow(host(), state_, *tree_);
    const Reading reading = value_or_fail(probe_->read());
    koord::latency::CumulativeCounts counts;
    series_.report(
        reading, [&](MemorySeries& series, const Stalls& window) { series.report(window, length_ns, batch_, counts); });
    itself_.report(reading, reading.unassigned->all().count, batch_);
    batch_.send(now_ns);
  }

 private:
  void define_metrics(const koord::latency::Levels& histograms) {
    series_ = {MemoryMetrics(host(), "container", histograms.container), MemoryMetrics(host(), "pod", histograms.pod),
               MemoryMetrics(host(), "node", histograms.node)};
    itself_ = koord::latency::MeasurementSeries(host(), "memory", "stalls");
    itself_.set_source(probe_->source());
  }

  const koord_svc_state* state_ = nullptr;
  koord::latency::MeasurementSeries itself_;
  std::optional<CgroupTree> tree_;
  std::optional<koord::tracing::TracingMarker> marker_;  // must outlive the programs
  std::optional<MemoryLatencyProbe> probe_;
  koord::latency::LevelSeries<Stalls, MemoryMetrics, MemorySeries> series_;
  std::optional<std::uint64_t> window_begin_ns_;
  koord::plugin::Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-memory-latency\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=MemoryLatencyCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.state/1,koord.fs/1,koord.config/1\noptional=koord.audit/1\n"
             "license=Apache-2.0\n"
             "description=How long reclaim and compaction of memory hold threads up, per node, pod and container\n",
             koord::plugin::advisor<MemoryLatency>("memory-latency", 5s, kConfigSchema.data()))
