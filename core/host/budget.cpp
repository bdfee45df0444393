// SPDX-License-Identifier: Apache-2.0
#include "core/host/budget.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/base/parse.hpp"

namespace koord::host {
namespace {

std::string cores(double n) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", n);
  return text;
}

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

bool above(double used, double limit, double share) { return limit > 0 && used >= share * limit; }

}  // namespace

void Budget::measure_cpu(Time now, const Use& use) {
  const bool same_session =
      use.processes == last_processes_ && use.cpu >= last_cpu_ && use.service_cpu >= last_service_cpu_;
  status_.cpu_cores.reset();
  status_.service_cores.reset();
  if (last_measured_ && same_session && now > *last_measured_) {
    const auto seconds = std::chrono::duration<double>(now - *last_measured_);
    status_.cpu_cores = std::chrono::duration<double>(use.cpu - last_cpu_) / seconds;
    status_.service_cores = std::chrono::duration<double>(use.service_cpu - last_service_cpu_) / seconds;
  }
  last_measured_ = now;
  last_processes_ = use.processes;
  last_cpu_ = use.cpu;
  last_service_cpu_ = use.service_cpu;
}

bool Budget::warn(Warned& of, bool above_now, Time now) {
  if (!above_now || std::exchange(of.now, above_now)) {
    of.now = above_now;
    return false;
  }
  ++status_.soft_breaches;
  if (of.last && now - *of.last < kQuiet) return false;
  of.last = now;
  return true;
}

void Budget::pace(bool above_now, bool may_speed_up) {
  if (above_now)
    status_.slowdown = std::min(2 * status_.slowdown, kMostSlowdown);
  else if (may_speed_up && status_.slowdown > 1)
    status_.slowdown /= 2;
}

// Returns, for the log, the CPU time that the agent used for the plugin, outside the plugin's own process.
std::string Budget::in_the_agent() const {
  const double service = status_.service_cores.value_or(0);
  return service >= 0.01 ? ", " + cores(service) + " of them in the agent for its requests and scrapes" : "";
}

Budget::Verdict Budget::measure(Time now, const Use& use, const Allowance& allowance) {
  measure_cpu(now, use);
  status_.cpu_millis = allowance.cpu_millis;
  status_.memory_limit_bytes = allowance.memory_bytes;
  status_.series_limit = allowance.series;
  status_.memory_bytes = use.memory_bytes;
  const double cpu = status_.cpu_cores.value_or(0), cpu_limit = static_cast<double>(allowance.cpu_millis) / 1000;
  const auto memory = static_cast<double>(use.memory_bytes.value_or(0)),
             memory_limit = static_cast<double>(allowance.memory_bytes);
  samples_above_soft_ = above(cpu, cpu_limit, kSoftShare) ? samples_above_soft_ + 1 : 0;
  samples_above_hard_ = above(cpu, cpu_limit, kHardShare) ? samples_above_hard_ + 1 : 0;
  const auto tick = static_cast<double>(use.tick.count()), deadline = static_cast<double>(allowance.tick.count());
  samples_near_deadline_ = above(tick, deadline, kSoftShare) ? samples_near_deadline_ + 1 : 0;
  status_.tick_deadline = allowance.tick;
  const bool much_cpu = samples_above_soft_ >= kSamplesToSlow;
  const bool much_time = samples_near_deadline_ >= kSamplesToSlow;
  const bool much_memory = above(memory, memory_limit, kSoftShare);
  const bool much_series = above(static_cast<double>(use.series), static_cast<double>(allowance.series), kSoftShare);

  Verdict verdict;
  if (warn(cpu_, much_cpu, now))
    verdict.warning = "uses " + cores(cpu) + " of its " + cores(cpu_limit) + " cores" + in_the_agent();
  if (warn(memory_, much_memory, now))
    verdict.warning += (verdict.warning.empty() ? "uses " : ", ") + mebibytes(*use.memory_bytes) + " of its " +
                       mebibytes(allowance.memory_bytes);
  // Slower ticks would not reduce the number of series.
  if (warn(series_, much_series, now))
    verdict.warning += (verdict.warning.empty() ? "has " : ", ") + std::to_string(use.series) + " of its " +
                       std::to_string(allowance.series) + " series";
  if (warn(tick_, much_time, now))
    verdict.warning += (verdict.warning.empty() ? "takes " : ", ") + format_duration(use.tick) + " a tick of at most " +
                       format_duration(allowance.tick);
  pace(much_cpu || much_memory || much_time, !above(2 * cpu, cpu_limit, kSoftShare) && !much_memory && !much_time);
  if (samples_above_hard_ >= kSamplesToRestart)
    verdict.breach = "used all of its " + cores(cpu_limit) + " cores for " + std::to_string(kSamplesToRestart) +
                     " samples in a row" + in_the_agent();
  else if (above(memory, memory_limit, 1))
    verdict.breach = "uses " + mebibytes(*use.memory_bytes) + ", may use " + mebibytes(allowance.memory_bytes);
  if (!verdict.breach.empty()) {
    ++status_.hard_breaches;
    samples_above_soft_ = samples_above_hard_ = 0;
  }
  return verdict;
}

}  // namespace koord::host
