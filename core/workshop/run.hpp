// SPDX-License-Identifier: Apache-2.0
// One run of a plugin without an agent: every class of it is started on a host in memory, ticked a few times and ended,
// and its reports and actions are returned. On a replayed node two runs give the same report except for the durations
// of calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/host/runner.hpp"
#include "core/metric/labels.hpp"
#include "core/service/plugin_context.hpp"

namespace koord::workshop {

class RunNode;

struct RunSettings {
  std::string plugin_id;
  std::string class_name;  // empty: every class
  std::uint64_t ticks = 3;
  std::optional<Duration> period;  // nullopt: the class's own; one second when it has none
  std::string config_json = "{}";
  host::RunnerLimits limits = {};  // of a process
  service::Rights rights = {};
  std::uint64_t scrape_memory = 0;  // bytes for all scrapes, as maxScrapeMemory of an agent; 0: no limit
};

// One call of the plugin.
struct RunCall {
  std::string cls, name;
  std::uint64_t tick = 0;  // 0: before the first
  Duration at{};           // real time since the run began
  service::CallResult result;
};

struct RunSeries {
  std::string metric, unit;
  metric::Labels labels;
  double value;  // of a histogram its count
  // For a histogram: its bounds, the counts below each and of all, and the sum. Else empty.
  std::vector<double> bounds = {};
  std::vector<std::uint64_t> cumulative = {};
  double sum = 0;
};

struct RunIntent {
  std::string cls;
  std::uint64_t tick = 0;
  knob::Intent intent;
};

struct RunAdjustment {
  std::string cls, stage;
  std::string pod, container;  // container: empty at the pod stages
  std::string field, value;    // field "reject": the reason
};

struct RunScrape {
  std::string cls, url;
  std::uint64_t samples = 0;  // that were taken
  std::string problem;        // why they are missing; the endpoint's fault, so the run has not failed
};

struct RunReport {
  std::vector<RunCall> calls;
  std::vector<RunSeries> series;  // as they stand at the end, by metric and labels
  std::vector<RunIntent> intents;
  std::vector<RunAdjustment> adjustments;
  std::vector<RunScrape> scrapes;  // of each external advisor, the last one
  std::vector<std::string> notes;  // why a hook has no adjustment

  // The first call that failed; nullptr: none did.
  const RunCall* first_failure() const;
};

// An error: the run could not be made, or the node not be read. A call that fails is in the report.
Result<RunReport> run(const std::shared_ptr<const host::LoadedPlugin>& plugin, RunNode& node,
                      const RunSettings& settings);

}  // namespace koord::workshop
