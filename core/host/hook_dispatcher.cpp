// SPDX-License-Identifier: Apache-2.0
#include "core/host/hook_dispatcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/parse.hpp"
#include "core/host/hook_statistics.hpp"
#include "core/host/instance.hpp"
#include "core/metric/host_metrics.hpp"

namespace koord::host {
namespace {

struct Asked {
  HookTarget hook;
  std::shared_ptr<HookCall> call;
};

}  // namespace

HookVerdict HookDispatcher::dispatch(HookRequest request) {
  auto subject = std::make_shared<const HookSubject>(std::move(request));
  std::vector<Asked> asked;
  for (HookTarget& hook : parts_.hooks(subject->stage())) {
    auto call = begin(hook, subject);
    asked.push_back({std::move(hook), std::move(call)});
  }
  HookVerdict verdict;
  verdict.stage = subject->stage();
  for (Asked& one : asked) take(one.hook, await(one.hook, subject->stage(), *one.call), verdict);
  if (verdict.rejection) verdict.settings.clear(), verdict.scales.clear();
  return verdict;
}

HookReply HookDispatcher::ask(const HookTarget& hook, std::shared_ptr<const HookSubject> subject) {
  const std::uint32_t stage = subject->stage();
  return await(hook, stage, *begin(hook, std::move(subject)));
}

std::shared_ptr<HookCall> HookDispatcher::begin(const HookTarget& hook,
                                                std::shared_ptr<const HookSubject> subject) const {
  auto call = std::make_shared<HookCall>(std::move(subject), parts_.clock.now(), hook.deadline);
  hook.instance->handle(call);
  return call;
}

HookReply HookDispatcher::await(const HookTarget& hook, std::uint32_t stage, HookCall& call) {
  HookReply reply = call.await();
  const bool timed_out = reply.kind == HookReply::Kind::timed_out;
  if (timed_out) {
    hook.instance->missed_hook();
    reply.text = "did not answer within " + format_duration(hook.deadline);
  }
  if (reply.kind == HookReply::Kind::answered)
    count(hook, reply.settings.rejection ? "rejected" : "ok");
  else
    count(hook, timed_out ? "timeout" : "failed");
  if (parts_.statistics != nullptr) parts_.statistics->note(hook.plugin, hook.name, stage, reply);
  return reply;
}

void HookDispatcher::take(const HookTarget& hook, HookReply reply, HookVerdict& verdict) {
  if (reply.kind == HookReply::Kind::answered) return take_settings(hook, std::move(reply.settings), verdict);
  const bool timed_out = reply.kind == HookReply::Kind::timed_out;
  if (hook.must_answer && !hook.in_shadow && !verdict.rejection) verdict.rejection = {hook.plugin, reply.text};
  verdict.silent.push_back({hook.plugin, std::move(reply.text), timed_out});
}

void HookDispatcher::take_shadow(const HookTarget& hook, HookSettings settings, HookVerdict& verdict) {
  if (settings.rejection) verdict.in_shadow.push_back({"reject", *std::move(settings.rejection), hook.plugin});
  for (auto& [field, value] : settings.fields)
    verdict.in_shadow.push_back({std::move(field), std::move(value), hook.plugin});
  for (const auto& [field, factor] : settings.scales)
    verdict.in_shadow.push_back({field, fmt::format("× {}", factor), hook.plugin});
}

void HookDispatcher::take_settings(const HookTarget& hook, HookSettings settings, HookVerdict& verdict) {
  if (hook.in_shadow) return take_shadow(hook, std::move(settings), verdict);
  for (const auto& [field, factor] : settings.scales) verdict.scales.push_back({field, factor, hook.plugin});
  if (settings.rejection && !verdict.rejection) verdict.rejection = {hook.plugin, *std::move(settings.rejection)};
  for (auto& [field, value] : settings.fields) {
    auto known = std::find_if(verdict.settings.begin(), verdict.settings.end(),
                              [&name = field](const HookVerdict::Setting& setting) { return setting.field == name; });
    if (known == verdict.settings.end()) {
      verdict.settings.push_back({std::move(field), std::move(value), hook.plugin});
    } else if (known->value != value) {
      verdict.conflicts.push_back({std::move(field), std::move(value), hook.plugin, known->plugin});
      parts_.metrics
          .counter("plugin_hook_conflicts_total", "Fields that another plugin had set to another value before.",
                   {{"plugin", hook.plugin}})
          .add();
      if (parts_.statistics != nullptr) parts_.statistics->note_conflict(hook.plugin, hook.name, verdict.stage);
    } else {
      verdict.agreed.push_back({std::move(field), std::move(value), hook.plugin});
    }
  }
}

void HookDispatcher::count(const HookTarget& hook, const char* result) {
  parts_.metrics
      .counter("plugin_hook_requests_total", "Requests to the plugin's runtime hooks, by result.",
               {{"plugin", hook.plugin}, {"result", result}})
      .add();
}

}  // namespace koord::host
