// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/hooks.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/base/parse.hpp"
#include "core/host/instance.hpp"
#include "core/log/log.hpp"

namespace koord::agentd {
namespace {

constexpr log::Category hook_log{"hooks"};

// The start, end or failure of a hook does not change the snapshot, so it is polled.
constexpr Duration kHookPeriod = std::chrono::seconds(1);
constexpr std::uint32_t kAskedStages = KOORD_STAGE_PRE_RUN_POD_SANDBOX | KOORD_STAGE_PRE_CREATE_CONTAINER;

// Returns whether the hook has ended. A running plugin has an instance of each class. A crashed or parked plugin may
// have no instance, but its hooks have not ended.
bool has_ended(const std::vector<host::PluginStatus>& plugins, const decision::Proposer& hook) {
  const auto plugin = std::find_if(plugins.begin(), plugins.end(),
                                   [&](const host::PluginStatus& one) { return one.id == hook.plugin; });
  if (plugin == plugins.end() || !plugin->enabled) return true;
  return !plugin->instances.empty() &&
         std::none_of(plugin->instances.begin(), plugin->instances.end(), [&](const host::InstanceStatus& one) {
           return one.kind == "koord.runtime-hook/1" && one.name == hook.name;
         });
}

}  // namespace

std::string own_pod_uid() {
  const char* uid = std::getenv("POD_UID");
  return uid == nullptr ? std::string() : uid;
}

HookModule::HookModule(const Services& services, hook::Creations& creations, Find find, RecordEvent record_event)
    : services_(services),
      creations_(creations),
      find_(std::move(find)),
      record_event_(std::move(record_event)),
      dispatcher_({.hooks = find_,
                   .clock = services.clock,
                   .metrics = services.metrics,
                   .statistics = services.hook_statistics}),
      missed_(
          {.creations = creations,
           .is_enforced =
               [this](const std::string& plugin) { return services_.governor.mode(plugin) == koord::Mode::enforce; },
           .report = [this](const hook::MissedFields::Missed& missed) { report(missed); },
           .own_uid = own_pod_uid()}),
      answers_(
          {.running = [this] { return running(); },
           .has_ended = [this](const decision::Proposer& hook) { return has_ended(plugins_, hook); },
           .ask = [this](const hook::RunningHook& hook,
                         std::shared_ptr<const host::HookSubject> subject) { return ask(hook, std::move(subject)); },
           .creation_fields =
               [this](const std::string& plugin, const state::Pod& pod, const state::Container& container,
                      const std::vector<std::string>& fields) { missed_.check(plugin, pod, container, fields); },
           .plans = services.governor,
           .clock = services.clock}) {}

HookModule::~HookModule() { stop(); }

void HookModule::start() {
  subscription_ = services_.hub.subscribe(
      [this, &loop = services_.loop, alive = std::weak_ptr(alive_)](std::uint32_t, const state::SnapshotPtr&) {
        loop.post([this, alive] {
          if (!alive.expired()) request();
        });
      });
  timer_ = services_.loop.every(kHookPeriod, [this] { request(); });
}

void HookModule::stop() {
  timer_.reset();
  alive_.reset();
  answers_.stop();
  if (subscription_ != 0) services_.hub.remove(std::exchange(subscription_, 0));
  strand_.reset();
  thread_.reset();
}

void HookModule::request() {
  if (!strand_) {
    if (find_(kAskedStages).empty() && !creations_.has_pending()) return;
    thread_ = std::make_unique<event::WorkerPool>(1);
    strand_ = std::make_unique<event::Strand>(*thread_, "hooks");
  }
  if (!is_requested_.exchange(true) && !strand_->post([this] { step(); })) is_requested_ = false;
}

void HookModule::step() {
  is_requested_ = false;
  plugins_ = services_.plugins();
  const state::SnapshotPtr snapshot = services_.hub.current();
  creations_.update(*snapshot);  // before answers_, so that values from before a hook are journaled
  answers_.update(snapshot);
  publish(missed_.end());
}

void HookModule::report(const hook::MissedFields::Missed& missed) {
  const std::string pod = state::full_name(missed.pod);
  const std::string what =
      "container " + missed.container.name + " runs without " + join(missed.fields, ", ") + " of " + missed.plugin;
  const std::string why =
      "these fields have an effect only when a container is created, and this one was created without the hook";
  log::warn(hook_log, "pod {}: {}: {}", pod, what, why);
  services_.events.add({.number = 0,
                        .time = services_.clock.now(),
                        .plugin = {},
                        .subject = {{"pod_uid", missed.pod.uid},
                                    {"pod_name", missed.pod.name},
                                    {"pod_namespace", missed.pod.namespace_},
                                    {"container_name", missed.container.name}},
                        .what = what,
                        .why = why});
  kube::EventInput event{.about = {"v1", "Pod", missed.pod.namespace_, missed.pod.name, missed.pod.uid},
                         .warning = true,
                         .reason = "HookFieldsMissed",
                         .message = what + ": " + why};
  services_.loop.post([this, alive = is_alive_, event = std::move(event)]() mutable {
    if (!alive.expired()) record_event_(std::move(event));
  });
}

void HookModule::publish(const std::map<std::string, std::size_t>& missed) {
  for (const auto& [plugin, containers] : missed)
    services_.metrics
        .gauge("host_hook_fields_missed",
               "Containers that run without fields of the plugin's hooks, because only a creation sets them.",
               {{"plugin", plugin}})
        .set(static_cast<double>(containers));
}

std::vector<hook::RunningHook> HookModule::running() {
  targets_ = find_(kAskedStages);
  std::vector<hook::RunningHook> hooks;
  for (const host::HookTarget& target : targets_)
    hooks.push_back({target.plugin, target.name, target.stages, target.instance->generation()});
  return hooks;
}

host::HookReply HookModule::ask(const hook::RunningHook& running, std::shared_ptr<const host::HookSubject> subject) {
  const auto target = std::find_if(targets_.begin(), targets_.end(), [&](const host::HookTarget& one) {
    return one.plugin == running.plugin && one.name == running.name;
  });
  host::HookTarget bounded = *target;
  bounded.deadline = std::min(bounded.deadline, hook::KeptAnswers::kMostTime);
  return dispatcher_.ask(bounded, std::move(subject));
}

}  // namespace koord::agentd
