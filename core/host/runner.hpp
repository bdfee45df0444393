// SPDX-License-Identifier: Apache-2.0
// Runner: runs one instance of a plugin, and is the only way to call it. The in-process one calls the vtable of a
// loaded module; a child one sends the same calls to a process of its own. A call never throws and always returns its
// result; the strand that it runs on limits its time.
//
// The tags are those of koordetector/plugin.h. [control] calls are made on the instance's strand, too, so that they are
// serial with its ticks without a lock. Owned by the instance; the objects it uses (module, context) outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/linux_capability.hpp"
#include "core/base/network_families.hpp"
#include "core/base/result.hpp"
#include "core/config/config.hpp"
#include "core/host/isolation_level.hpp"
#include "core/load/class_info.hpp"
#include "core/scrape/scrape_target.hpp"
#include "core/scrape/scraped_items.hpp"
#include "core/service/call_result.hpp"
#include "koordetector/plugin.h"

namespace koord::service {
class PluginContext;
}  // namespace koord::service

namespace koord {
struct FileVersion;
}

namespace koord::load {
struct Manifest;
}  // namespace koord::load

namespace koord::host {

class StopSignal;

// Limits of a process of its own. 0: no limit. In the agent's process none holds.
struct RunnerLimits {
  std::uint64_t memory_bytes = 0;
  std::uint64_t cpu_millis = 0;                           // thousandths of a core
  std::uint64_t processes = 0;                            // threads count
  std::uint64_t state_bytes = 0;                          // of its state directory, and of each file that it writes
  CapabilityMask capabilities = 0;                        // all that it has
  NetworkMask network = 0;                                // sockets that it may make
  std::vector<std::string> readable = {}, writable = {};  // beside what all may
  std::vector<std::string> hook_fields = {};              // as in config::PluginSettings
  bool third_party = false;                               // confined by all layers that the node has
  std::vector<config::IsolationLayer> minimum_isolation =
      {};                        // of a third party: without one of these it does not start
  std::stop_token loading = {};  // a stop request ends a process that maps the file
};

// Returns the bytes of a plugin's state directory on disk, or more than `enough` if there is more. [any]
using StateMeter = std::function<Result<std::uint64_t>(const std::string& plugin_id, std::uint64_t enough)>;

// Returns the free bytes of the file system with the state directories; nullopt: unknown. [any]
using SpaceMeter = std::function<std::optional<std::uint64_t>()>;

// From SIGTERM to SIGKILL.
inline constexpr Duration kAbortGrace = std::chrono::milliseconds(500);

class Runner {
 public:
  virtual ~Runner() = default;  // does not call destroy()

  virtual service::CallResult create() = 0;   // [control]
  virtual service::CallResult init() = 0;     // [control]
  virtual service::CallResult stop() = 0;     // [control]
  virtual service::CallResult destroy() = 0;  // [control] waits for handle() calls in flight

  // [own thread] Returns when run() of the plugin does.
  virtual service::CallResult run(const StopSignal& stop) = 0;

  virtual service::CallResult on_event(std::uint32_t what, std::uint64_t version) = 0;  // [strand]

  // [strand] One tick: collect() of an advisor, evaluate() of a strategy.
  virtual service::CallResult collect(Time now, Time deadline) = 0;
  virtual service::CallResult evaluate(Time now, Time deadline) = 0;
  // [strand] Of strategies.
  virtual service::CallResult on_applied(std::span<const koord_intent_result> results) = 0;

  // [strand] Of external advisors.
  virtual service::CallResult url(std::string& url) = 0;
  virtual service::CallResult targets(std::vector<scrape::ScrapeTarget>& targets) = 0;
  // The calls of a whole scrape: on_target(), unless the name is empty, then map_metric(), map_series() or map_sample()
  // for each. KOORD_OK, whatever was dropped; a panic ends them.
  virtual service::CallResult map_metrics(std::string_view target, std::span<scrape::ScrapedMetric> metrics) = 0;
  virtual service::CallResult map_series(std::string_view target, std::span<scrape::ScrapedSeries> series) = 0;
  virtual service::CallResult map_samples(std::string_view target, std::span<scrape::ScrapedSample> samples) = 0;

  // [any] Of runtime hooks; between init() and destroy().
  virtual service::CallResult handle(const koord_hook_request& request, const koord_hook_response& response) = 0;

  // After create(): its process; 0: this one.
  virtual int process() const { return 0; }
  // After create(): the layers that confine it now.
  virtual const IsolationLevel& isolation() const { return isolation_in_process(); }

  // [any] Makes the calls in flight return as lost, by ending the process they are in: SIGTERM, and SIGKILL after
  // `grace`. Does nothing if that process is this one.
  virtual void abort(const std::string& /*reason*/, Duration /*grace*/) {}
  // Before create(): sets the callback for a process that is lost while no call is running. [any]
  virtual void on_lost(std::function<void(const std::string& reason)>) {}
};

// A plugin's file, ready to have instances. Valid until the process ends or its child does.
class LoadedPlugin {
 public:
  virtual ~LoadedPlugin() = default;
  virtual const std::vector<load::ClassInfo>& classes() const = 0;
  virtual std::unique_ptr<Runner> make_runner(std::size_t class_index, service::PluginContext& context,
                                              const RunnerLimits& limits) const = 0;
  // It can be aborted: a call that does not return costs a process and nothing else.
  virtual bool expendable() const { return false; }
  // The layers of the process in which the file was mapped.
  virtual const IsolationLevel& isolation() const { return isolation_in_process(); }
};

// Loads the file at this absolute path; its manifest was read and accepted. Whenever the file is mapped it must still
// be the one with this stamp. May block and run code of the plugin: if in a process of its own, in these limits.
using Loader = std::function<Result<std::shared_ptr<const LoadedPlugin>>(
    const std::string& path, const load::Manifest&, const FileVersion& checked, const RunnerLimits& limits)>;

}  // namespace koord::host
