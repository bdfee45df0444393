// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/hooks.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/host/instance.hpp"

namespace koord::agentd {
namespace {

// Hooks that start, end or fail change no part of the state.
constexpr Duration kHookPeriod = std::chrono::seconds(1);
constexpr std::uint32_t kAskedStages = KOORD_STAGE_PRE_RUN_POD_SANDBOX | KOORD_STAGE_PRE_CREATE_CONTAINER;

std::set<std::string> enabled_plugins(const std::vector<host::PluginStatus>& plugins) {
  std::set<std::string> enabled;
  for (const host::PluginStatus& plugin : plugins)
    if (plugin.enabled) enabled.insert(plugin.id);
  return enabled;
}

}  // namespace

HookModule::HookModule(const Services& services, Find find)
    : services_(services),
      find_(std::move(find)),
      dispatcher_({.hooks = find_, .clock = services.clock, .metrics = services.metrics}),
      answers_({.running = [this] { return running(); },
                .enabled = [this] { return enabled_plugins(services_.plugins()); },
                .ask = [this](const hook::RunningHook& hook, std::shared_ptr<const host::HookSubject> subject) {
                  return ask(hook, std::move(subject));
                },
                .plans = services.governor,
                .clock = services.clock}) {}

HookModule::~HookModule() { stop(); }

void HookModule::start() {
  subscription_ = services_.hub.subscribe([this, &loop = services_.loop, alive = std::weak_ptr(alive_)](std::uint32_t, const state::SnapshotPtr&) {
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
  answers_.update(services_.hub.current());
}

std::vector<hook::RunningHook> HookModule::running() {
  targets_ = find_(kAskedStages);
  std::vector<hook::RunningHook> hooks;
  for (const host::HookTarget& target : targets_)
    hooks.push_back({target.plugin, target.name, target.stages, target.instance->generation()});
  return hooks;
}

host::HookReply HookModule::ask(const hook::RunningHook& hook, std::shared_ptr<const host::HookSubject> subject) {
  const auto target = std::find_if(targets_.begin(), targets_.end(),
                                   [&](const host::HookTarget& one) { return one.plugin == hook.plugin && one.name == hook.name; });
  return dispatcher_.ask(*target, std::move(subject));
}

}  // namespace koord::agentd
