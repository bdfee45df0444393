// SPDX-License-Identifier: Apache-2.0
// advisor-sched-latency: measures how long the threads of the node, each pod and each container wait for a CPU.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-sched-latency/borrowed_waits.hpp"
#include "plugins/advisor-sched-latency/sched_latency_probe.hpp"
#include "plugins/shared/bpf/plugin_marker.hpp"
#include "plugins/shared/latency/latency_series.hpp"
#include "plugins/shared/latency/level_series.hpp"
#include "plugins/shared/latency/measurement_series.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/sdk/joined.hpp"
#include "plugins/shared/sdk/value_or_fail.hpp"

namespace {

using namespace std::chrono_literals;
using koord::latency::CgroupTree;
using koord::latency::CumulativeCounts;
using koord::latency::LatencyMetrics;
using koord::latency::LatencySeries;
using koord::latency::LevelSeries;
using koord::latency::MeasurementSeries;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::value_or_fail;
using koord::sched_latency::BorrowedWaits;
using koord::sched_latency::Probe;
using koord::sched_latency::ProbeOptions;
using koord::sched_latency::Reading;
using koord::sched_latency::Source;
using koord::sched_latency::Waits;

constexpr auto kConfigSchema = koord::settings::joined(R"({
  "type": "object", "additionalProperties": false, "properties": {)",
                                                       koord::tracing::kMarkerSettings, R"(,
    "source": {"enum": ["sched_info", "task_storage", "raw_tracepoint", "schedstat"],
               "description": "use this source or none; default: advisor-interference's while it runs, or else the cheapest that the kernel accepts"},
    "slots": {"type": "integer", "minimum": 2, "maximum": 65535,
              "description": "maximum number of cgroups measured separately; default: as many as 16 MiB of kernel memory hold"},
    "btf": {"type": "string", "description": "file with the kernel's types, if the kernel itself has none"}
  }})");

struct SchedMetrics {
  SchedMetrics() = default;
  SchedMetrics(const koord_host* host, const std::string& level)
      : waits(host, {level + "_sched",
                     "the threads of a " + level +
                         " waited for a CPU before they ran; without time throttled by a CPU quota if "
                         "sched_latency_info says source sched_info or interference, otherwise with it",
                     {50, 95, 99}}),
        throttled(host, {level + "_sched_latency_throttled_seconds_total", "seconds",
                         "Time that a CPU quota held threads of a " + level +
                             " that were ready to run, in seconds. The quota is that of their cgroup or one above it.",
                         1e-6, KOORD_COUNTER}) {}

  LatencyMetrics waits;
  koord::plugin::Metric throttled;
};

class SchedSeries {
 public:
  SchedSeries() = default;
  SchedSeries(const SchedMetrics& metrics, std::uint64_t subject)
      : waits_(metrics.waits, subject), throttled_(metrics.throttled.series(subject)) {}

  void report(const Waits& window, bool knows_throttled, Batch& batch, CumulativeCounts& counts) {
    waits_.report(window, batch, counts);
    throttled_ns_ += window.throttled_ns;
    if (knows_throttled) batch.add(throttled_, static_cast<double>(throttled_ns_) / 1e9);
  }

 private:
  LatencySeries waits_;
  std::uint64_t throttled_ = 0, throttled_ns_ = 0;
};

class SchedLatency final : public koord::plugin::Advisor {
 public:
  void init() override {
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    batch_ = Batch(host());
    series_ = {SchedMetrics(host(), "container"), SchedMetrics(host(), "pod"), SchedMetrics(host(), "node")};
    itself_ = MeasurementSeries(host(), "sched", "waits");
    const koord::NodeRoots roots = koord::node::roots_of(host());
    tree_ = std::make_unique<CgroupTree>(
        value_or_fail(CgroupTree::find("cpu", roots.cgroup, roots.proc), KOORD_E_UNSUPPORTED));
    options_ = options(roots.proc);
    if (!options_.only) borrowed_ = BorrowedWaits(host());
    borrowed_.poll();  // requests waits
    open_probe();
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    const auto watched = series_.follow(host(), state_, *tree_);
    const BorrowedWaits::Post post = borrowed_.poll();
    if (probe_) {
      report(value_or_fail(probe_->read(watched)), probe_->source() == Source::sched_info, now_ns);
      if (borrowed_.is_steady()) borrow();
    } else if (post == BorrowedWaits::Post::continued) {
      report(borrowed_.reading(), true, now_ns);
    } else if (post == BorrowedWaits::Post::first) {
      series_.restart(borrowed_.reading());
    } else if (borrowed_.is_lost()) {
      open_probe();
    }
  }

 private:
  void report(const Reading& reading, bool knows_throttled, std::uint64_t now_ns) {
    CumulativeCounts counts;
    series_.report(reading, [&](SchedSeries& series, const Waits& window) {
      series.report(window, knows_throttled, batch_, counts);
    });
    itself_.report(reading, reading.unassigned.value_or(Waits{}).count, batch_);
    batch_.send(now_ns);
  }

  // Unloads the plugin's own programs, because advisor-interference posts waits. The base is its next post, because the
  // last one is older than the reading that was just reported.
  void borrow() {
    probe_.reset();
    marker_.reset();
    borrowed_.forget();
    itself_.set_source("interference");
    log(KOORD_LOG_INFO, "reading scheduling latency from advisor-interference");
  }

  void open_probe() {
    marker_ = koord::tracing::mark_tracing(host(), "advisor-sched-latency", options_.proc);
    auto opened = value_or_fail(koord::sched_latency::open_probe(*tree_, options_), KOORD_E_UNSUPPORTED);
    series_.restart({});
    for (const auto& refusal : opened.refused)
      log(KOORD_LOG_INFO, "source '" + std::string(name_of(refusal.source)) + "' is not available: " + refusal.why);
    probe_ = std::move(opened.probe);
    if (probe_->source() == Source::schedstat) marker_.reset();  // it has no programs in the kernel
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
  ProbeOptions options_;
  BorrowedWaits borrowed_;
  std::unique_ptr<CgroupTree> tree_;
  std::optional<koord::tracing::TracingMarker> marker_;  // must outlive the programs
  std::unique_ptr<Probe> probe_;
  LevelSeries<Waits, SchedMetrics, SchedSeries> series_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-sched-latency\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=SchedLatencyCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.state/1,koord.fs/1,koord.config/1\noptional=koord.audit/1,koord.kv/1\n"
             "license=Apache-2.0\n"
             "description=How long threads wait for a CPU, per node, pod and container\n",
             koord::plugin::advisor<SchedLatency>("sched-latency", 5s, kConfigSchema.data()))
