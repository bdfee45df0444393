// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/cache_settings.hpp"

#include <string>

#include "core/base/parse.hpp"

namespace koord::interference {
namespace {

using namespace std::chrono_literals;
using plugin::Config;
using plugin::Failure;

std::string place_of(const char* name) { return std::string("/cache/") + name; }

double number(const Config& config, const char* name, double otherwise) {
  return config.f64(place_of(name)).value_or(otherwise);
}

template <class Integer>
Integer count(const Config& config, const char* name, Integer otherwise) {
  const auto set = config.i64(place_of(name));
  return set ? static_cast<Integer>(*set) : otherwise;
}

Duration time(const Config& config, const char* name, Duration least, Duration most, Duration otherwise) {
  const auto text = config.string(place_of(name));
  if (!text) return otherwise;
  const Result<Duration> duration = parse_duration(*text);
  if (duration && *duration >= least && *duration <= most) return *duration;
  throw Failure(KOORD_E_INVALID, std::string("cache.") + name + " is '" + *text + "', expected a time from " +
                                     format_duration(least) + " to " + format_duration(most));
}

}  // namespace

CacheSettings read_cache_settings(const Config& config) {
  CacheSettings settings;
  settings.is_enabled = config.boolean(place_of("enabled")).value_or(true);
  settings.most_descriptors = count(config, "maxDescriptors", settings.most_descriptors);
  analysis::CacheRule& rule = settings.rules.rule;
  rule.deviations = number(config, "deviations", rule.deviations);
  rule.slow_down = number(config, "slowDownPercent", 100 * rule.slow_down) / 100;
  rule.victim_usage = number(config, "victimCpus", rule.victim_usage);
  rule.suspect_usage = number(config, "suspectCpus", rule.suspect_usage);
  rule.correlation = number(config, "correlation", rule.correlation);
  rule.windows = count(config, "windows", rule.windows);
  rule.of_them = count(config, "windowsOver", rule.of_them);
  analysis::CpiBaselineRule& baseline = settings.rules.baseline;
  settings.rules.clear = time(config, "clearAfter", 5s, 1h, settings.rules.clear);
  baseline.learn_time = time(config, "learnTime", 1min, 24h, baseline.learn_time);
  baseline.learn_windows = count(config, "learnWindows", baseline.learn_windows);
  if (rule.of_them > rule.windows)
    throw Failure(KOORD_E_INVALID, "cache.windowsOver is " + std::to_string(rule.of_them) +
                                       ", expected at most cache.windows, " + std::to_string(rule.windows));
  return settings;
}

}  // namespace koord::interference
