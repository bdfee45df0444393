// SPDX-License-Identifier: Apache-2.0
// Instance: one running class of a plugin. Makes every call in the order of the ABI,
//   create → init → (ticks, events)* with run beside them → stop → stop signal → run joined → destroy,
// on its own strand, and knows at any time what it is doing. It ends itself for a reason (init failed, three deadlines
// missed in a row, run() failed); whether and when to begin again is its Supervisor's decision.
//
// A call that does not come back makes the instance `wedged`: its thread is given up and what it may still touch is
// kept for ever. All functions may be called from any thread. Held by shared_ptr, because a call in flight holds it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/event/strand.hpp"
#include "core/host/home.hpp"
#include "core/host/plugin_status.hpp"

namespace koord::host {

class PlanSink;
class PluginMeter;

// What the host decided for an instance.
struct InstanceSettings {
  Duration deadline{};      // of one tick
  Duration wedged_after{};  // of any call
  std::string config_json = "{}";
};

class Instance : public std::enable_shared_from_this<Instance> {
 public:
  // What makes it live; references outlive the instance unless it wedges.
  struct Parts {
    std::string plugin_id;
    std::shared_ptr<const LoadedPlugin> plugin;
    std::size_t class_index = 0;
    // A context for each life: the table a plugin holds is never given to its successor.
    std::function<std::shared_ptr<PluginContext>(const std::string& config_json)> make_context;
    event::WorkerPool& pool;
    const Clock& clock;
    PluginMeter& meter;
    PlanSink& plans;
    // Told after each change of state, without a lock, on the thread that made it: post and return.
    std::function<void()> on_change;
  };

  static std::shared_ptr<Instance> make(Parts parts, InstanceSettings settings);
  ~Instance();

  const ClassInfo& info() const;

  // Creates and initialises; from loaded, stopped or failed.
  void start();
  // One tick, unless the one before is not done: then it is skipped and counted.
  void tick();
  // Parts of the state changed; delivers those that the plugin subscribed to.
  void notify(std::uint32_t parts, const std::array<std::uint64_t, 4>& versions);
  // Gives it another configuration. It keeps the old one when on_event() refuses; without on_event() it begins anew.
  void reconfigure(std::string config_json);
  void set_deadline(Duration deadline, Duration wedged_after);
  // Tells a strategy what became of its plan. The results are borrowed by the call only.
  void on_applied(std::vector<koord_intent_result> results);
  // A runtime hook's answer. KOORD_E_AGAIN when the instance does not run.
  CallResult handle(const koord_hook_request& request, const koord_hook_response& response);

  // Begins to end it; the state becomes `stopped`.
  void stop();
  // Gives up on an instance that does not end.
  void write_off(const std::string& reason);

  InstanceStatus status() const;

 private:
  struct Life;
  struct Private;
};

}  // namespace koord::host
