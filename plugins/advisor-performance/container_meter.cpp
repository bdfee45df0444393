// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-performance/container_meter.hpp"

namespace koord::performance {
namespace {

using plugin::KnownSeries;
using plugin::Metric;

KnownSeries of_subject(const koord_host* host, const Metric& metric, std::uint64_t handle) {
  return KnownSeries(host, [metric, handle] { return metric.series(handle); });
}

KnownSeries labelled(const koord_host* host, const Metric& metric, std::uint64_t handle, std::string_view key,
                     std::string value) {
  return KnownSeries(host, [=] { return metric.series(handle, {{key, value}}); });
}

}  // namespace

ContainerMetrics::ContainerMetrics(const koord_host* host)
    : cpi(host,
          {"container_cpi", "", "Cycles and instructions of a container during its last window, by cpi_resource."}),
      cycles_per_instruction(host, {"container_cycles_per_instruction", "",
                                    "Cycles that a container took per instruction during its last window.", 1e-3}),
      llc_mpki(host, {"container_llc_misses_per_kilo_instructions", "",
                      "Misses of the last-level cache per 1000 instructions of a container.", 1e-3}),
      running_ratio(host, {"container_perf_running_ratio", "",
                           "Share of a container's CPU time in which its events were counted.", 1e-4}),
      event_rate(host, {"container_perf_event_rate", "per second",
                        "Other configured events, per second of a container's last window.", 1e-3}) {}

ContainerMeter::ContainerMeter(const koord_host* host, const ContainerMetrics& metrics, const EventSet& events,
                               std::uint64_t handle, std::string directory, std::uint64_t now_ns)
    : handle_(handle),
      directory_(std::move(directory)),
      known_ns_(now_ns),
      cycles_(labelled(host, metrics.cpi, handle, "cpi_resource", "cycle")),
      instructions_(labelled(host, metrics.cpi, handle, "cpi_resource", "instruction")),
      cycles_per_instruction_(of_subject(host, metrics.cycles_per_instruction, handle)),
      llc_mpki_(of_subject(host, metrics.llc_mpki, handle)),
      running_ratio_(of_subject(host, metrics.running_ratio, handle)) {
  for (const std::size_t at : events.further)
    event_rates_.push_back(labelled(host, metrics.event_rate, handle, "event", events.events[at].name));
}

void ContainerMeter::begin(std::uint64_t now_ns, std::optional<CgroupCounters> counters) {
  last_begin_ns_ = now_ns;
  has_cgroup_ = true;
  counters_ = std::move(counters);
}

Result<Verdict> ContainerMeter::finish(const EventSet& events, std::uint64_t now_ns, double min_ratio,
                                       plugin::Batch& batch) {
  const Result<std::vector<GroupReading>> readings = counters_->read();
  counters_.reset();
  if (!readings) {
    end_series();
    return readings.error();
  }
  const Estimate window = estimate(*readings, min_ratio);
  report(events, window, static_cast<double>(now_ns - *last_begin_ns_) / 1e9, batch);
  return window.verdict;
}

void ContainerMeter::report(const EventSet& events, const Estimate& window, double seconds, plugin::Batch& batch) {
  const std::optional<double> cycles = window.count(EventSet::kCycles);
  const std::optional<double> instructions = window.count(EventSet::kInstructions);
  running_ratio_.set(batch, window.running_ratio);
  cycles_.set(batch, cycles);
  instructions_.set(batch, instructions);
  cycles_per_instruction_.set(batch, ratio(cycles, instructions));
  if (events.llc_misses) llc_mpki_.set(batch, ratio(window.count(*events.llc_misses), ratio(instructions, 1000)));
  for (std::size_t i = 0; i < event_rates_.size(); ++i)
    event_rates_[i].set(batch, ratio(window.count(events.further[i]), seconds));
}

void ContainerMeter::end_series() {
  for (KnownSeries* series : {&cycles_, &instructions_, &cycles_per_instruction_, &llc_mpki_, &running_ratio_})
    series->end();
  for (KnownSeries& series : event_rates_) series.end();
}

}  // namespace koord::performance
