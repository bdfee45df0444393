// SPDX-License-Identifier: Apache-2.0
// advisor-block-latency: measures the latency of requests to block devices for the node, each pod and each container.
#include <optional>
#include <string>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-block-latency/block_latency_probe.hpp"
#include "plugins/advisor-block-latency/block_series.hpp"
#include "plugins/shared/bpf/plugin_marker.hpp"
#include "plugins/shared/latency/level_series.hpp"
#include "plugins/shared/latency/measurement_series.hpp"
#include "plugins/shared/latency/slot_config.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/node/value_file.hpp"
#include "plugins/shared/sdk/joined.hpp"
#include "plugins/shared/sdk/value_or_fail.hpp"

namespace {

using namespace std::chrono_literals;
using koord::block_latency::BlockLatencyProbe;
using koord::block_latency::BlockMetrics;
using koord::block_latency::BlockOptions;
using koord::block_latency::BlockSeries;
using koord::block_latency::Device;
using koord::block_latency::Reading;
using koord::block_latency::Requests;
using koord::latency::CgroupTree;
using koord::latency::Levels;
using koord::plugin::value_or_fail;

constexpr auto kConfigSchema = koord::settings::joined(R"({
  "type": "object", "additionalProperties": false, "properties": {
    "histograms": {"enum": ["none", "node", "pods", "all"],
                   "description": "levels with histograms, some 30 series each: pods includes node; default: node"},
    "devices": {"enum": ["none", "node", "pods", "all"],
                "description": "levels with totals for each device, 8 to 12 series each: pods includes node; default: node"},)",
                                                       koord::tracing::kMarkerSettings, R"(,
    "source": {"enum": ["btf_tracepoint", "raw_tracepoint"],
               "description": "use this source or none; default: the first that the kernel accepts"},)",
                                                       koord::latency::kSlotSettings, R"(
  }})");

class BlockLatency final : public koord::plugin::Advisor {
 public:
  void init() override {
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    batch_ = koord::plugin::Batch(host());
    const koord::plugin::Config config(host());
    const koord::NodeRoots roots = koord::node::roots_of(host());
    sys_ = roots.sys;
    tree_ = value_or_fail(CgroupTree::find("blkio", roots.cgroup, roots.proc), KOORD_E_UNSUPPORTED);
    marker_ = koord::tracing::mark_tracing(host(), "advisor-block-latency", roots.proc);
    probe_ = value_or_fail(BlockLatencyProbe::open(*tree_, BlockOptions{koord::latency::slot_options(config)}),
                           KOORD_E_UNSUPPORTED);
    define_metrics(koord::latency::levels(config, "/histograms"), koord::latency::levels(config, "/devices"));
    koord::latency::log_source(host(), "block latency", probe_->source(), probe_->refused());
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    series_.follow(host(), state_, *tree_);
    const Reading reading = value_or_fail(probe_->read());
    koord::latency::CumulativeCounts counts;
    const auto names = [this](Device device) { return name_of_device(device); };
    series_.report(reading,
                   [&](BlockSeries& series, const Requests& window) { series.report(window, names, batch_, counts); });
    report_itself(reading);
    batch_.send(now_ns);
  }

 private:
  void define_metrics(const Levels& histograms, const Levels& devices) {
    series_ = {BlockMetrics(host(), "container", histograms.container, devices.container),
               BlockMetrics(host(), "pod", histograms.pod, devices.pod),
               BlockMetrics(host(), "node", histograms.node, devices.node)};
    itself_ = koord::latency::MeasurementSeries(host(), "block", "requests");
    itself_.set_source(probe_->source());
    lost_rows_ = itself_.lost("no_row");
  }

  void report_itself(const Reading& reading) {
    std::uint64_t unassigned = 0;
    for (const auto& histogram : reading.unassigned->latency) unassigned += histogram.count;
    itself_.report(reading, unassigned, batch_);
    batch_.add(lost_rows_, static_cast<double>(probe_->lost_rows()));
  }

  std::string name_of_device(Device device) const {
    const std::string number = koord::block_latency::name_of(device);
    return koord::node::link_name(sys_ + "/dev/block/" + number).value_or(number);
  }

  const koord_svc_state* state_ = nullptr;
  std::string sys_;
  koord::latency::MeasurementSeries itself_;
  std::uint64_t lost_rows_ = 0;
  std::optional<CgroupTree> tree_;
  std::optional<koord::tracing::TracingMarker> marker_;  // must outlive the programs
  std::optional<BlockLatencyProbe> probe_;
  koord::latency::LevelSeries<Requests, BlockMetrics, BlockSeries> series_;
  koord::plugin::Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-block-latency\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=BlockLatencyCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.state/1,koord.fs/1,koord.config/1\noptional=koord.audit/1\n"
             "license=Apache-2.0\n"
             "description=How long requests to block devices take, per node, pod and container\n",
             koord::plugin::advisor<BlockLatency>("block-latency", 5s, kConfigSchema.data()))
