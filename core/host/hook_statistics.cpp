// SPDX-License-Identifier: Apache-2.0
#include "core/host/hook_statistics.hpp"

#include <chrono>

#include "core/base/to_seconds.hpp"
#include "core/base/utf8.hpp"
#include "core/host/hook_stages.hpp"

namespace koord::host {

void HookStatistics::note(const std::string& plugin, const std::string& name, std::uint32_t stage,
                          const HookReply& reply) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entry_of(plugin, name, stage);
  HookUse& use = entry.use;
  ++use.asked;
  use.latency.add(reply.took);
  entry.seconds.observe(to_seconds(reply.took));
  if (reply.kind == HookReply::Kind::answered) {
    use.rejected += reply.settings.rejection.has_value();
    return;
  }
  ++(reply.kind == HookReply::Kind::timed_out ? use.late : use.failed);
  use.last_error = reply.text;
  cut_utf8(use.last_error, kMostText);
  replace_control_characters(use.last_error);
  use.last_error_time = clock_.now();
}

void HookStatistics::note_conflict(const std::string& plugin, const std::string& name, std::uint32_t stage) {
  const std::lock_guard lock(mutex_);
  ++entry_of(plugin, name, stage).use.conflicts;
}

std::vector<HookUse> HookStatistics::all() const {
  std::vector<HookUse> uses;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : entries_) uses.push_back(entry.use);
  return uses;
}

HookStatistics::Entry& HookStatistics::entry_of(const std::string& plugin, const std::string& name,
                                                std::uint32_t stage) {
  const auto [found, is_new] = entries_.try_emplace({plugin, name, stage});
  Entry& entry = found->second;
  if (!is_new) return entry;
  entry.use.plugin = plugin;
  entry.use.name = name;
  entry.use.stage = stage;
  entry.seconds = metrics_.histogram("host_hook_seconds",
                                     "Time from the question to a runtime hook to its answer, or to its deadline.",
                                     {Latency::kBounds.begin(), Latency::kBounds.end()},
                                     {{"stage", std::string(name_of_stage(stage))}, {"plugin", plugin}});
  return entry;
}

}  // namespace koord::host
