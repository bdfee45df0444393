// SPDX-License-Identifier: Apache-2.0
// How a plugin does, as plain values for the data API, koordctl and the log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/linux_capability.hpp"
#include "core/base/network_families.hpp"
#include "core/config/feature_gates.hpp"
#include "core/host/isolation_level.hpp"

namespace koord::host {

enum class PluginState : std::uint8_t {
  refused,      // the host does not load it; the reason says what was expected and found
  disabled,     // its feature gates are off
  loading,      // the file is being mapped
  loaded,       // mapped; nothing was called yet
  created,      // create() is done, init() is not
  initialised,  // init() is done, its thread is about to start
  running,
  stopping,
  stopped,
  failed,  // ended for the reason given; begins again after a while
  absent,  // this node cannot support it, by init()
  wedged,  // a call does not come back; its thread was abandoned
  parked,  // ended 5 times in 10 min; starts again after a reload, or when its gate is switched off and on
};

std::string_view to_string(PluginState state);

struct CallCounts {
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;
  std::uint64_t skipped_ticks = 0;
  std::uint64_t deadline_misses = 0;
  Duration wall{};
  Duration cpu{};

  CallCounts& operator+=(const CallCounts& other);
};

// How an external advisor's endpoint does.
struct ScrapeStatus {
  std::string target;  // its name; empty: it is the only one
  std::string url;     // empty: none was given yet
  std::uint64_t scrapes = 0;
  std::uint64_t failures = 0;
  std::string problem;      // why the last one failed; empty: it did not
  Duration duration{};      // of the last one, from the request to the last sample in its series
  std::uint64_t bytes = 0;  // of the last good one, and the results for its samples:
  std::uint64_t taken = 0;
  std::uint64_t dropped = 0;   // by the plugin
  std::uint64_t left_out = 0;  // by the host, the first of them because
  std::string left_out_because;
};

struct InstanceStatus {
  std::string kind;
  std::string name;
  PluginState state = PluginState::loaded;
  std::string reason;    // of the state, one line; empty when there is nothing to say
  std::string call;      // the call in flight; empty: none
  Duration call_time{};  // how long it has been in flight
  bool ticking = false;  // a tick waits or runs
  CallCounts counts;
  std::string last_error;             // call, status and text of the last call that failed
  Duration last_duration{};           // of the last tick
  std::vector<ScrapeStatus> scrapes;  // of an external advisor, each of its endpoints
  std::uint64_t scrape_count = 0;     // of all endpoints that there were
  std::uint64_t scrape_failures = 0;
  int process = 0;                          // its process; 0: the agent's
  std::optional<IsolationLevel> isolation;  // while it runs
  Duration service_cpu{};                   // of the agent so far, for requests of that process and for scrapes
  std::uint64_t refused_configs = 0;        // times that on_event() refused a configuration
};

// Usage and limits of a plugin. Limits: 0 is none.
struct BudgetStatus {
  std::optional<double> cpu_cores;      // lately, with service_cores; nullopt: not known yet
  std::optional<double> service_cores;  // of them the agent's, for requests of the plugin's process and for scrapes
  std::uint64_t cpu_millis = 0;
  std::optional<std::uint64_t> memory_bytes;  // nullopt: in the agent, where it cannot be measured
  std::uint64_t memory_limit_bytes = 0;
  std::uint64_t series_limit = 0;
  Duration tick_deadline{};         // zero: it has no ticks
  unsigned slowdown = 1;            // its period is this many times what it should be
  std::uint64_t soft_breaches = 0;  // times that it came near a limit
  std::uint64_t hard_breaches = 0;  // how often it was restarted for this
};

// Rights of a plugin by plugins.settings.ID, beside those of every plugin. A process has the capabilities, sockets and
// paths of its start.
struct GrantStatus {
  CapabilityMask capabilities = 0;
  NetworkMask network = 0;
  std::vector<std::string> files, cgroups, read_paths, write_paths, hook_fields;
};

struct PluginStatus {
  std::string id;
  std::string version;
  std::string path;
  std::string description;
  std::vector<std::string> kinds;
  std::string gate;  // of several each, with commas between
  config::Stage stage = config::Stage::alpha;
  bool enabled = false;                       // a gate of its is on
  bool required = false;                      // the agent is not ready without it
  PluginState state = PluginState::disabled;  // the worst of its instances
  std::string reason;
  CallCounts counts;  // of all instances
  std::string last_error;
  Duration last_duration{};
  Duration period{};
  std::uint64_t series = 0;
  std::uint64_t dropped_series = 0;
  BudgetStatus budget;
  std::optional<IsolationLevel>
      isolation;  // that all its processes have now, else that of the mapping; nullopt: it was not mapped yet
  GrantStatus grants;
  std::uint64_t restarts = 0;
  std::uint64_t reloads = 0;          // times that its file was replaced
  std::uint64_t refused_reloads = 0;  // times that the old file was kept
  std::uint64_t refused_configs = 0;  // times that the old configuration was kept
  std::vector<InstanceStatus> instances;
};

// Is the agent ready, and if not, because of which required plugins?
struct Readiness {
  bool ready = true;
  std::vector<std::string> reasons;  // "advisor-x is parked: …"
};

}  // namespace koord::host
