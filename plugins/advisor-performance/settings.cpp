// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-performance/settings.hpp"

#include <algorithm>
#include <string>

#include "core/base/parse.hpp"
#include "plugins/shared/counters/descriptors.hpp"

namespace koord::performance {
namespace {

std::uint64_t positive_duration_ns(const std::string& key, const std::string& text) {
  const Result<Duration> duration = parse_duration(text);
  if (!duration || duration->count() <= 0)
    throw plugin::Failure(KOORD_E_INVALID, key + ": '" + text + "' is not a duration, expected one such as 60s");
  return static_cast<std::uint64_t>(duration->count());
}

}  // namespace

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "interval": {"type": "string", "description": "from one window of a container to its next; default 60s"},
    "cycles": {"type": "string", "minLength": 1, "description": "event, as libpfm4 writes it; default PERF_COUNT_HW_CPU_CYCLES"},
    "instructions": {"type": "string", "minLength": 1, "description": "event; default PERF_COUNT_HW_INSTRUCTIONS"},
    "llcMisses": {"type": "string", "description": "event, default PERF_COUNT_HW_CACHE_MISSES; empty: not counted"},
    "events": {"type": "array", "maxItems": 4, "items": {"type": "string", "minLength": 1},
               "description": "further events, each a series container_perf_event_rate"},
    "minRunningRatio": {"type": "number", "minimum": 0, "maximum": 1,
                        "description": "what was counted for a smaller part of the time is dropped; default 0.05"},
    "maxDescriptors": {"type": "integer", "minimum": 1, "maximum": 1000000,
                       "description": "descriptors of counters open at once, one for each event and CPU; default 4096"}
  }})";

Settings read_settings(const koord_host* host) {
  const plugin::Config config(host);
  Settings settings;
  settings.events.cycles = config.string("/cycles").value_or(settings.events.cycles);
  settings.events.instructions = config.string("/instructions").value_or(settings.events.instructions);
  settings.events.llc_misses = config.string("/llcMisses").value_or(settings.events.llc_misses);
  while (auto event = config.string("/events/" + std::to_string(settings.events.further.size())))
    settings.events.further.push_back(*event);
  if (auto interval = config.string("/interval")) settings.interval_ns = positive_duration_ns("interval", *interval);
  settings.min_running_ratio = config.f64("/minRunningRatio").value_or(settings.min_running_ratio);
  if (auto most = config.i64("/maxDescriptors")) settings.max_descriptors = static_cast<std::size_t>(*most);
  settings.max_descriptors = std::min(settings.max_descriptors, quarter_of_descriptors());
  return settings;
}

}  // namespace koord::performance
