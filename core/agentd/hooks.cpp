// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/hooks.hpp"

#include <algorithm>
#include <utility>

#include "core/host/instance.hpp"

namespace koord::agentd {
namespace {

// The start, end or failure of a hook does not change the snapshot, so it is polled.
constexpr Duration kHookPeriod = std::chrono::seconds(1);
constexpr std::uint32_t kAskedStages = KOORD_STAGE_PRE_RUN_POD_SANDBOX | KOORD_STAGE_PRE_CREATE_CONTAINER;

// A plugin that runs has an instance of each class; one that crashed or is parked may have none, and its hooks go on.
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

HookModule::HookModule(const Services& services, Find find)
    : services_(services),
      find_(std::move(find)),
      dispatcher_({.hooks = find_, .clock = services.clock, .metrics = services.metrics}),
      answers_(
          {.running = [this] { return running(); },
           .has_ended = [this](const decision::Proposer& hook) { return has_ended(plugins_, hook); },
           .ask = [this](const hook::RunningHook& hook,
                         std::shared_ptr<const host::HookSubject> subject) { return ask(hook, std::move(subject)); },
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
    if (find_(kAskedStages).empty()) return;
    thread_ = std::make_unique<event::WorkerPool>(1);
    strand_ = std::make_unique<event::Strand>(*thread_, "hooks");
  }
  if (!is_requested_.exchange(true) && !strand_->post([this] { step(); })) is_requested_ = false;
}

void HookModule::step() {
  is_requested_ = false;
  plugins_ = services_.plugins();
  answers_.update(services_.hub.current());
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
