// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/settings.hpp"

#include <string>

#include "core/base/parse.hpp"

namespace koord::interference {
namespace {

using plugin::Config;
using plugin::Failure;

std::string at(const char* name) { return std::string("/rule/") + name; }

// `unit`: what 1 of the setting is.
void read(const Config& config, const char* name, double& value, double unit = 1) {
  if (const auto set = config.f64(at(name))) value = *set * unit;
}

template <class Integer>
void read_count(const Config& config, const char* name, Integer& value) {
  if (const auto set = config.i64(at(name))) value = static_cast<Integer>(*set);
}

void read(const Config& config, const char* name, Duration& value) {
  const auto text = config.string(at(name));
  if (!text) return;
  const Result<Duration> duration = parse_duration(*text);
  if (!duration)
    throw Failure(KOORD_E_INVALID, std::string("rule.") + name + " is '" + *text + "', expected a time such as 10s");
  value = *duration;
}

}  // namespace

analysis::Rules read_rules(const Config& config) {
  constexpr double kMillisecond = 0.001, kPercent = 0.01;
  analysis::Rules rules;
  read(config, "throttledMsPerSecond", rules.cpu.throttled, kMillisecond);
  read(config, "heldUpMsPerSecond", rules.cpu.held_up, kMillisecond);
  read(config, "overQuiet", rules.cpu.over_quiet);
  read(config, "latencyCpus", rules.cpu.latency_run);
  read(config, "throughputCpus", rules.cpu.throughput_run);
  read(config, "lostThroughputPercent", rules.cpu.lost_throughput, kPercent);
  read(config, "estimatedPercent", rules.cpu.estimated, kPercent);
  read_count(config, "windows", rules.confirmation.windows);
  read_count(config, "windowsWithFinding", rules.confirmation.of_them);
  read(config, "clearAfter", rules.confirmation.clear);
  read(config, "quietPercentile", rules.baseline.quiet_share, kPercent);
  read_count(config, "quietWindows", rules.baseline.windows);
  read(config, "quietHalfLife", rules.baseline.half_life);
  read(config, "forgetAfter", rules.baseline.forget_after);
  read(config, "saveInterval", rules.baseline.save_interval);
  if (const auto good = analysis::check(rules); !good) throw Failure(KOORD_E_INVALID, "rule." + good.error().message());
  return rules;
}

}  // namespace koord::interference
