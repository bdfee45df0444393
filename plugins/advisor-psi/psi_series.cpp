// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-psi/psi_series.hpp"

namespace koord::psi {
namespace {

// Creates a series on first use. 0 means not created; the host never returns 0.
template <class Make>
std::uint64_t made(std::uint64_t& series, Make&& make) {
  if (series == 0) series = make();
  return series;
}

plugin::MetricSpec of_level(const std::string& name, const std::string& help, std::string_view unit, double resolution,
                            std::uint32_t type = KOORD_GAUGE) {
  return {name, unit, help, resolution, type};
}

}  // namespace

LevelMetrics::LevelMetrics(const koord_host* host, const std::string& level) {
  const std::string of = level == "node" ? "the node" : "a " + level;
  percent = {host, of_level(level + "_psi",
                            "Percent of the time in which some or all busy threads of " + of +
                                " were stalled, as the kernel averages it over 10, 60 or 300 s.",
                            "percent", 0.01)};
  stalled_seconds = {host, of_level(level + "_pressure_stalled_seconds_total",
                                    "Time in which some or all busy threads of " + of + " were stalled, in seconds.",
                                    "seconds", 1e-6, KOORD_COUNTER)};
  stalled_ratio = {
      host,
      of_level(level + "_psi_stalled_ratio",
               "Share of the time since the tick before in which threads of " + of + " were stalled.", "ratio", 1e-4)};
  if (level != "node")
    cpu_full_supported = {
        host, of_level(level + "_psi_cpu_full_supported",
                       "1 if the kernel reports for " + of + " when all of its threads wait for a CPU.", "", 1)};
}

void PressureSeries::report(Resource resource, const Pressure& pressure, std::uint64_t read_ns, plugin::Batch& batch) {
  const bool cpu = resource == Resource::cpu;
  report_line(resource, "some", pressure.some, read_ns, batch);
  if (!cpu || selection_->cpu_full) report_line(resource, "full", pressure.full, read_ns, batch);
  if (cpu && selection_->cpu_full_supported)
    batch.add(made(cpu_full_supported_, [&] { return metrics_->cpu_full_supported.series(subject_); }),
              pressure.full.is_known());
}

PressureSeries::Line& PressureSeries::line(Resource resource, bool full) {
  std::unique_ptr<Line>& line = lines_[static_cast<std::size_t>(resource)][full];
  if (!line) line = std::make_unique<Line>();
  return *line;
}

void PressureSeries::report_line(Resource resource, std::string_view degree, const Stall& stall, std::uint64_t read_ns,
                                 plugin::Batch& batch) {
  Line& series = line(resource, degree == "full");
  const plugin::Label of_resource = {"psi_resource", label_of(resource)}, of_degree = {"psi_degree", degree};
  for (std::size_t index : selection_->precisions) {
    if (!stall.percent[index]) continue;
    const std::string seconds = std::to_string(kPrecisions[index]);
    const auto make = [&] {
      return metrics_->percent.series(subject_, {of_resource, {"psi_precision", seconds}, of_degree});
    };
    batch.add(made(series.percent[index], make), *stall.percent[index]);
  }
  if (!stall.total_us) return;
  const auto make_total = [&] { return metrics_->stalled_seconds.series(subject_, {of_resource, of_degree}); };
  batch.add(made(series.stalled_seconds, make_total), static_cast<double>(*stall.total_us) / 1e6);
  if (!selection_->ratio) return;
  const auto make_ratio = [&] { return metrics_->stalled_ratio.series(subject_, {of_resource, of_degree}); };
  if (auto ratio = series.ratio.update(*stall.total_us, read_ns))
    batch.add(made(series.stalled_ratio, make_ratio), *ratio);
}

}  // namespace koord::psi
