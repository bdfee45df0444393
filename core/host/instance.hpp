// SPDX-License-Identifier: Apache-2.0
// Instance: one running class of a plugin. Makes every call in the order of the ABI,
//   create → init → (ticks, events)* with run beside them → stop → stop signal → run joined → destroy,
// on its own strand, and knows at any time what it is doing. It ends itself for a reason (init failed, three
// deadlines missed in a row, run() failed); whether and when it begins again is its supervisor's decision.
//
// A call that does not come back makes the instance `wedged`: its thread is given up, and the instance with
// all that the call may still touch is kept forever. All functions may be called from any thread. Held by
// shared_ptr, since a call in flight holds it, too.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/byte_budget.hpp"
#include "core/base/clock.hpp"
#include "core/event/strand.hpp"
#include "core/event/task.hpp"
#include "core/evict/request.hpp"
#include "core/host/call_record.hpp"
#include "core/host/hook_reach.hpp"
#include "core/host/plugin_status.hpp"
#include "core/host/runner.hpp"
#include "core/knob/plan_sink.hpp"
#include "core/scrape/scraped_metrics.hpp"
#include "core/state/snapshot.hpp"

namespace koord::scrape {
struct TargetScrape;
}  // namespace koord::scrape

namespace koord::host {

// Time that a plugin in a process of its own has for stop(), the end of run() and destroy() together.
inline constexpr Duration kStopGrace = std::chrono::seconds(2);

// The host's decisions about an instance.
struct InstanceSettings {
  Duration deadline = std::chrono::seconds(1);       // of a tick
  Duration wedged_after = std::chrono::seconds(30);  // of any call
  std::string config_json = "{}";
  RunnerLimits runner = {};  // from its next session on
};

class HookCall;

class Instance : public std::enable_shared_from_this<Instance> {
 public:
  // Dependencies of an instance; references outlive the instance unless it is wedged.
  struct Parts {
    std::string plugin_id;
    std::shared_ptr<const LoadedPlugin> plugin;
    std::size_t class_index = 0;
    // A new context for each session: nothing of one session passes to its successor.
    std::function<std::unique_ptr<service::PluginContext>(const std::string& config_json)> make_context;
    event::WorkerPool& pool;
    event::WorkerPool* hook_pool = nullptr;  // for handle(), which waits for nothing else; nullptr: as the rest
    const Clock& clock;
    knob::PlanSink& plans;
    evict::RequestSink* evictions = nullptr;  // null: evictions are off
    // The rights that decide which endpoints are scraped for it.
    std::function<service::Rights()> rights = [] {
      return service::Rights{.host_plugin = false, .files = {}, .cgroups = {}};
    };
    std::shared_ptr<ByteBudget> scrape_memory = nullptr;  // of the whole plugin; nullptr: no limit
    // Called for each change of state, without a lock, on the thread that made it: it posts and returns.
    std::function<void(PluginState)> on_change;
    // The same for other changes of status() in an unchanged state.
    std::function<void()> on_status = [] {};
  };

  static std::shared_ptr<Instance> make(Parts parts, InstanceSettings settings);
  ~Instance();

  const load::ClassInfo& info() const { return info_; }

  // Creates and initialises, when it is loaded or has ended.
  void start();
  // One tick, unless the one before is not done: then it is skipped and counted.
  void tick();
  // Parts of the state changed (state::Part): calls the plugin for those it subscribed to.
  void notify(std::uint32_t parts, const state::Versions& versions);
  // The standing verdicts changed: the same.
  void notify_verdicts(std::uint64_t generation);
  // Gives it another configuration. It keeps the old one when on_event() refuses; a class without on_event()
  // ends, to start again.
  void reconfigure(std::string config_json);
  void set_limits(Duration deadline, Duration wedged_after);
  void set_runner_limits(const RunnerLimits& limits);
  // Asks a runtime hook; one request after the other, beside its other calls. One that does not return ends the
  // instance, long after its caller has stopped waiting.
  void handle(std::shared_ptr<HookCall> call);
  // A request was answered without it.
  void missed_hook();
  Duration deadline() const;
  // Grows with each start and each configuration that was taken, over all instances: an answer of before may be another
  // now.
  std::uint64_t generation() const;

  // Begins to end it; the state becomes `stopped`. Ends the process at once if init() has not returned.
  void stop();
  // Ends it as failed.
  void fail(const std::string& reason);
  // The same without time to stop: SIGKILL ends its process. As fail() in the agent's process.
  void fail_at_once(const std::string& reason);
  // Ends the process of an instance that was stopped and has not ended, and logs that. No effect in the agent's
  // process.
  void end_process();
  // Gives up an instance that does not end.
  void write_off(const std::string& reason);

  InstanceStatus status() const;
  PluginState state() const;
  // Nothing of the plugin is called, and nothing will be unless start() is.
  bool ended() const;

 private:
  struct Session;
  class ScrapeCharge;

  // Why a session ends, and the state after it.
  struct Ending {
    PluginState state;
    std::string reason;
  };

  Instance(Parts parts, InstanceSettings settings);

  // Part of a session, on the strand. It is dropped when that session has ended.
  using Step = void (Instance::*)(Session&);

  void post(Session& session, Step step);
  void post(Session& session, Step step, Duration patience);
  bool post_to(event::Strand& strand, event::Task task, Duration patience, const char* call);
  void notify(std::uint32_t changed, const std::function<void()>& keep);
  void write_off_call(const std::string& call, const std::string& reason);
  Duration patience_of_tick() const;  // with the lock held
  Duration wedged_after() const;
  HookReach reach_of_hook() const;
  void end(Session& session, Ending ending);
  void end_current(Ending ending);
  void enter(PluginState state);
  decision::Proposer proposer(const Session& session) const;
  bool is_current(const Session& session) const;     // and can be called
  std::shared_ptr<Session> running_session() const;  // nullptr: none
  // Passes the results of its plan to a strategy.
  void on_applied(Session& session, std::vector<knob::IntentResult> results);
  void abort_runner(const std::string& reason, Duration grace = kAbortGrace);

  // [strand]
  template <class F>
  service::CallResult call(Session& session, const char* name, F&& f);
  void begin(Session& session);
  bool bring_up(Session& session);
  template <class F>
  service::CallResult scrape_call(Session& session, const char* name, F&& f);
  void prepare_scrapes(Session& session);
  void ask_targets(Session& session);
  void set_targets(Session& session, const std::vector<scrape::ScrapeTarget>& targets);
  scrape::ScrapedMetrics::Mapping mapping_of(Session& session, const std::string& target);
  void reset_scrapes(Session& session);
  void begin_scrapes(Session& session);
  bool is_ahead(Session& session);
  void begin_waiting(Session& session);
  void take_scrapes(Session& session);
  void forget_asking();
  void scrape_ended(Session& session, const scrape::TargetScrape* known,
                    const Result<scrape::ScrapedMetrics::Outcome>& outcome, std::uint64_t bytes);
  void do_tick(Session& session);
  service::CallResult call_tick(Session& session, Time now, Time deadline);
  void deliver_events(Session& session);
  void deliver_config(Session& session);
  void deliver_results(Session& session);
  void offer_config(Session& session, std::string config_json);
  void wind_up(Session& session);
  void finish(Session& session);
  void conclude(Session& session, Ending ending);

  // [the fetcher's thread]
  void fetch(Session& session, scrape::TargetScrape& known);

  void start_run_thread(Session& session);
  void run_returned(Session& session, const service::CallResult& result);

  const Parts parts_;
  const load::ClassInfo& info_;
  event::Strand strand_;
  const std::unique_ptr<event::Strand> hook_strand_;  // of handle(); nullptr: it is no hook

  mutable std::mutex mutex_;  // of what follows
  InstanceSettings settings_;
  PluginState state_ = PluginState::loaded;
  std::string reason_;
  std::optional<Ending> ending_;
  CallRecord record_;
  std::shared_ptr<Session> session_;
  std::map<std::string, ScrapeStatus> scrapes_;  // by target
  std::uint64_t scrape_count_ = 0, scrape_failures_ = 0;
  int process_ = 0;
  std::optional<IsolationLevel> isolation_;  // from create() on
  bool tick_queued_ = false;
  std::uint32_t changed_parts_ = 0;  // to be delivered
  state::Versions versions_;
  std::uint64_t verdict_generation_ = 0;
  std::optional<std::string> new_config_;
  std::vector<knob::IntentResult> results_;  // to be delivered
  std::uint64_t config_version_ = 1;
  std::uint64_t generation_ = 0;
  std::uint64_t refused_configs_ = 0;
};

}  // namespace koord::host
