// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/rules.hpp"

#include <string>

#include "core/base/parse.hpp"

namespace koord::analysis {
namespace {

using namespace std::chrono_literals;

Result<void> check_number(const char* name, double value, double least, double most, double shown_as = 1) {
  if (value >= least && value <= most) return {};
  const auto text = [shown_as](double number) {
    std::string digits = std::to_string(number * shown_as);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    return digits;
  };
  return invalid(std::string(name) + " is " + text(value) + ", expected " + text(least) + " to " + text(most));
}

Result<void> check_time(const char* name, Duration value, Duration least, Duration most) {
  if (value >= least && value <= most) return {};
  return invalid(std::string(name) + " is " + format_duration(value) + ", expected " + format_duration(least) + " to " +
                 format_duration(most));
}

}  // namespace

Result<void> check(const Rules& rules) {
  constexpr double kMilliseconds = 1000, kPercent = 100;
  const CpuRule& cpu = rules.cpu;
  TRY(check_number("throttledMsPerSecond", cpu.throttled, 0.0001, 10, kMilliseconds));
  TRY(check_number("heldUpMsPerSecond", cpu.held_up, 0.0001, 10, kMilliseconds));
  TRY(check_number("overQuiet", cpu.over_quiet, 1, 100));
  TRY(check_number("latencyCpus", cpu.latency_run, 0, 1024));
  TRY(check_number("throughputCpus", cpu.throughput_run, 0, 1024));
  TRY(check_number("lostThroughputPercent", cpu.lost_throughput, 0.001, 1, kPercent));
  TRY(check_number("estimatedPercent", cpu.estimated, 0, 1, kPercent));
  const ConfirmationRule& confirmation = rules.confirmation;
  TRY(check_number("windows", confirmation.windows, 1, 60));
  TRY(check_number("windowsWithFinding", confirmation.of_them, 1, 60));
  TRY(check_time("clearAfter", confirmation.clear, 1s, 1h));
  const BaselineRule& baseline = rules.baseline;
  TRY(check_number("quietPercentile", baseline.quiet_share, 0.01, 0.5, kPercent));
  TRY(check_number("quietWindows", static_cast<double>(baseline.windows), 1, 86'400));
  TRY(check_time("quietHalfLife", baseline.half_life, 1min, 30 * 24h));
  TRY(check_time("forgetAfter", baseline.forget_after, 1min, 30 * 24h));
  TRY(check_time("saveInterval", baseline.save_interval, 1s, 24h));
  if (confirmation.of_them > confirmation.windows)
    return invalid("windowsWithFinding is " + std::to_string(confirmation.of_them) + ", expected at most windows, " +
                   std::to_string(confirmation.windows));
  return {};
}

}  // namespace koord::analysis
