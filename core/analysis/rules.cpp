// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/rules.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/parse.hpp"

namespace koord::analysis {
namespace {

using Place = RuleSetting::Place;

constexpr double kMilli = 0.001, kPercent = 0.01;
constexpr double kMinute = 60, kHour = 3600, kMonth = 720 * kHour;
constexpr std::string_view kTime = RuleSetting::kTime;
constexpr bool kOfNode = true;

constexpr RuleSetting kSettings[] = {
    {"throttledMsPerSecond", "ms/s", 0.1, 10000, kMilli, [](Rules& r) -> Place { return &r.cpu.throttled; }},
    {"heldUpMsPerSecond", "ms/s", 0.1, 10000, kMilli, [](Rules& r) -> Place { return &r.cpu.held_up; }},
    {"overQuiet", "times", 1, 100, 1, [](Rules& r) -> Place { return &r.cpu.over_quiet; }},
    {"latencyCpus", "CPUs", 0, 1024, 1, [](Rules& r) -> Place { return &r.cpu.latency_cpus; }},
    {"throughputCpus", "CPUs", 0, 1024, 1, [](Rules& r) -> Place { return &r.cpu.throughput_run; }},
    {"lostThroughputPercent", "%", 0.1, 100, kPercent, [](Rules& r) -> Place { return &r.cpu.lost_throughput; }},
    {"estimatedPercent", "%", 0, 100, kPercent, [](Rules& r) -> Place { return &r.cpu.estimated; }},
    {"windows", "seconds", 1, 60, 1, [](Rules& r) -> Place { return &r.confirmation.windows; }},
    {"windowsWithFinding", "seconds", 1, 60, 1, [](Rules& r) -> Place { return &r.confirmation.of_them; }},
    {"clearAfter", kTime, 1, kHour, 1, [](Rules& r) -> Place { return &r.confirmation.clear; }},
    {"quietPercentile", "%", 1, 50, kPercent, [](Rules& r) -> Place { return &r.baseline.quiet_share; }, kOfNode},
    {"quietWindows", "seconds", 1, 86400, 1, [](Rules& r) -> Place { return &r.baseline.windows; }, kOfNode},
    {"quietHalfLife", kTime, kMinute, kMonth, 1, [](Rules& r) -> Place { return &r.baseline.half_life; }, kOfNode},
    {"forgetAfter", kTime, kMinute, kMonth, 1, [](Rules& r) -> Place { return &r.baseline.forget_after; }, kOfNode},
    {"saveInterval", kTime, 1, 24 * kHour, 1, [](Rules& r) -> Place { return &r.baseline.save_interval; }, kOfNode},
    {"blkio.overQuiet", "times", 1, 100, 1, [](Rules& r) -> Place { return &r.io.over_quiet; }},
    {"blkio.excessMs", "ms", 0, 10000, kMilli, [](Rules& r) -> Place { return &r.io.excess; }},
    {"blkio.requestsForMean", "1/s", 1, 1e6, 1, [](Rules& r) -> Place { return &r.io.requests_for_mean; }},
    {"blkio.requestsForP99", "1/s", 1, 1e6, 1, [](Rules& r) -> Place { return &r.io.requests_for_p99; }},
    {"blkio.limitUsedPercent", "%", 1, 100, kPercent, [](Rules& r) -> Place { return &r.io.limit_used; }},
    {"blkio.quietWindows", "seconds", 1, 86400, 1, [](Rules& r) -> Place { return &r.io.quiet_windows; }, kOfNode},
    {"blkio.quietHalfLife", kTime, kMinute, kMonth, 1, [](Rules& r) -> Place { return &r.io.quiet_half_life; },
     kOfNode},
    {"memory.refaultMsPerSecond", "ms/s", 0.1, 10000, kMilli, [](Rules& r) -> Place { return &r.memory.refault_time; }},
    {"memory.overQuiet", "times", 1, 100, 1, [](Rules& r) -> Place { return &r.memory.over_quiet; }},
};

Duration seconds(double value) { return Duration(static_cast<Duration::rep>(std::llround(value * 1e9))); }

std::string shown(const std::string& name, const std::string& value, const std::string& expected) {
  return name + " is " + value + ", expected " + expected;
}

}  // namespace

bool RuleSetting::is_whole() const {
  Rules any;
  const Place at = place(any);
  return std::holds_alternative<int*>(at) || std::holds_alternative<std::size_t*>(at);
}

double RuleSetting::value_in(const Rules& rules) const {
  Rules copy = rules;
  const Place at = place(copy);
  if (const auto* number = std::get_if<double*>(&at)) return **number / scale;
  if (const auto* number = std::get_if<int*>(&at)) return **number;
  if (const auto* number = std::get_if<std::size_t*>(&at)) return static_cast<double>(**number);
  return std::chrono::duration<double>(**std::get_if<Duration*>(&at)).count();
}

void RuleSetting::put(Rules& rules, double value) const {
  const Place at = place(rules);
  if (const auto* number = std::get_if<double*>(&at)) **number = value * scale;
  if (const auto* number = std::get_if<int*>(&at)) **number = static_cast<int>(value);
  if (const auto* number = std::get_if<std::size_t*>(&at)) **number = static_cast<std::size_t>(value);
  if (const auto* time = std::get_if<Duration*>(&at)) **time = seconds(value);
}

std::string RuleSetting::text_of(double value) const {
  if (is_time()) return format_duration(seconds(value));
  std::string digits = std::to_string(value);
  if (digits.find('.') == std::string::npos) return digits;  // nan
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

// Accepts a small rounding difference at the bounds.
Result<void> RuleSetting::check(double value) const {
  constexpr double kLess = 1 - 1e-9, kMore = 1 + 1e-9;
  const std::string bounds = text_of(least) + " to " + text_of(most), text(name);
  if (!(value >= least * kLess && value <= most * kMore))
    return invalid(
        shown(text, std::isfinite(value) && std::abs(value) < 1e9 ? text_of(value) : std::to_string(value), bounds));
  if (is_whole() && value != std::floor(value))
    return invalid(shown(text, text_of(value), "a whole number from " + bounds));
  return {};
}

std::span<const RuleSetting> rule_settings() { return kSettings; }

const RuleSetting* rule_setting_named(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kSettings), std::end(kSettings),
                                         [name](const RuleSetting& setting) { return setting.name == name; });
  return found == std::end(kSettings) ? nullptr : found;
}

Result<double> rule_value(const RuleSetting& setting, double number) {
  if (setting.is_time()) return invalid(std::string(setting.name) + " is a number, expected a time such as 10s");
  TRY(setting.check(number));
  return number;
}

Result<double> rule_value(const RuleSetting& setting, std::string_view text) {
  constexpr std::size_t kMostShown = 32;
  const std::string found = "'" + std::string(text.substr(0, kMostShown)) + "'", name(setting.name);
  if (!setting.is_time()) return invalid(shown(name, found, "a number"));
  const Result<Duration> time = parse_duration(text);
  if (!time) return invalid(shown(name, found, "a time such as 10s"));
  const double value = std::chrono::duration<double>(*time).count();
  TRY(setting.check(value));
  return value;
}

Result<void> check(const Rules& rules) {
  for (const RuleSetting& setting : kSettings) TRY(setting.check(setting.value_in(rules)));
  const ConfirmationRule& confirmation = rules.confirmation;
  if (confirmation.of_them > confirmation.windows)
    return invalid("windowsWithFinding is " + std::to_string(confirmation.of_them) + ", expected at most windows, " +
                   std::to_string(confirmation.windows));
  return {};
}

}  // namespace koord::analysis
