// SPDX-License-Identifier: Apache-2.0
#include "core/predict/score.hpp"

#include <algorithm>

namespace koord::predict {
namespace {

double as_double(std::uint64_t n) { return static_cast<double>(n); }

std::optional<double> ratio(double a, double b) { return b > 0 ? std::optional(a / b) : std::nullopt; }

void hold_against(Score::Hour& hour, const Usage& actual) {
  ++hour.samples;
  hour.cpu_above += actual.cpu_cores * 1000 > static_cast<double>(hour.predicted.cpu_milli);
  hour.memory_above += actual.memory_bytes > static_cast<double>(hour.predicted.memory_bytes);
  hour.peak.cpu_cores = std::max(hour.peak.cpu_cores, actual.cpu_cores);
  hour.peak.memory_bytes = std::max(hour.peak.memory_bytes, actual.memory_bytes);
}

}  // namespace

void Score::add(Time now, const Usage& actual, const std::optional<Amounts>& predicted) {
  std::erase_if(hours_, [now](const Hour& hour) { return hour.begin + kKept < now; });
  if (!hours_.empty() && now < hours_.back().begin + kHorizon) return hold_against(hours_.back(), actual);
  if (predicted) hours_.push_back({now, *predicted, {}});
}

ScoreReport Score::report() const {
  ScoreReport report;
  double cpu_above = 0, memory_above = 0, cpu_predicted = 0, memory_predicted = 0, cpu_peak = 0, memory_peak = 0;
  for (const Hour& hour : hours_) {
    report.samples += hour.samples;
    cpu_above += as_double(hour.cpu_above);
    memory_above += as_double(hour.memory_above);
    // The current hour is left out, because its peak may still come.
    if (&hour == &hours_.back() || hour.samples == 0) continue;
    cpu_predicted += static_cast<double>(hour.predicted.cpu_milli) / 1000;
    memory_predicted += static_cast<double>(hour.predicted.memory_bytes);
    cpu_peak += hour.peak.cpu_cores;
    memory_peak += hour.peak.memory_bytes;
  }
  if (report.samples > 0) {
    report.cpu_coverage = 1 - cpu_above / as_double(report.samples);
    report.memory_coverage = 1 - memory_above / as_double(report.samples);
  }
  report.cpu_ratio = ratio(cpu_predicted, cpu_peak);
  report.memory_ratio = ratio(memory_predicted, memory_peak);
  return report;
}

void Score::restore(std::vector<Hour> hours, Time now) {
  std::erase_if(hours, [now](const Hour& hour) { return hour.begin > now; });
  std::sort(hours.begin(), hours.end(), [](const Hour& a, const Hour& b) { return a.begin < b.begin; });
  hours_ = std::move(hours);
}

void Score::move_back(Duration by) {
  for (Hour& hour : hours_) hour.begin -= by;
}

}  // namespace koord::predict
