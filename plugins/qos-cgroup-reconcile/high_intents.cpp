// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cgroup-reconcile/high_intents.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace koord::cgroup_reconcile {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

std::string percent_of(double percent) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", percent);
  return text;
}

std::string reason_of(const HighTarget& target, HighGuard::State state, const GuardSettings& settings) {
  const std::string more =
      "its tasks stalled for lack of memory more than " + percent_of(settings.pressure_percent) + " % of the time";
  switch (state) {
    case HighGuard::State::at_target:
      return target.reason;
    case HighGuard::State::descending:
      return "on the way to " + std::to_string(target.target) + ", " + target.reason;
    case HighGuard::State::raised:
      return "above " + std::to_string(target.target) + ", which was too little: " + more;
    case HighGuard::State::released:
      return "no memory.high for now, raising it did not help: " + more;
  }
  return target.reason;
}

}  // namespace

std::optional<strategy::Intent> high_intent(const HighTarget& target, const HighGuard& guard,
                                            std::optional<std::int64_t> high, const HighReading& reading,
                                            const GuardSettings& settings) {
  if (!high) return std::nullopt;
  strategy::Intent intent{KOORD_LEVEL_CONTAINER,
                          "memory.high",
                          target.cgroup_dir,
                          *high == kNoLimit ? "max" : std::to_string(*high),
                          reason_of(target, guard.state(), settings),
                          target.inputs};
  if (reading.usage) intent.inputs.emplace_back("memory.usage", std::to_string(*reading.usage));
  if (guard.stalled_percent()) intent.inputs.emplace_back("stalled_percent", percent_of(*guard.stalled_percent()));
  return intent;
}

void HighIntents::follow(std::vector<HighTarget> targets) {
  std::map<std::string, Watched> next;
  for (HighTarget& target : targets) {
    auto known = watched_.extract(target.cgroup_dir);
    const std::string dir = target.cgroup_dir;
    if (known) {
      known.mapped().target = std::move(target);
      known.mapped().is_new = true;
      next.insert(std::move(known));
    } else {
      next.try_emplace(dir, Watched{std::move(target)});
    }
  }
  watched_ = std::move(next);
  intents_.clear();
}

const strategy::Intents& HighIntents::intents(std::uint64_t now_ns, const GuardSettings& settings,
                                              std::int64_t page_size) {
  const std::chrono::nanoseconds now(now_ns);
  bool any_changed = false;
  for (auto& [dir, watched] : watched_) {
    if (!watched.is_new && !watched.guard.is_due(now)) continue;
    any_changed = true;
    watched.is_new = false;
    const HighReading reading = read(watched);
    watched.knows_pressure = reading.stalled_us.has_value();
    const HighAim aim{watched.target.target, watched.target.limit, page_size};
    watched.intent =
        high_intent(watched.target, watched.guard, watched.guard.next(aim, reading, now, settings), reading, settings);
  }
  if (!any_changed) return intents_;
  intents_.clear();
  for (const auto& [dir, watched] : watched_)
    if (watched.intent) intents_.push_back(*watched.intent);
  return intents_;
}

bool HighIntents::blind() const {
  return any() &&
         std::none_of(watched_.begin(), watched_.end(), [](const auto& entry) { return entry.second.knows_pressure; });
}

HighReading HighIntents::read(Watched& watched) {
  HighReading reading;
  const std::string& dir = watched.target.cgroup_dir;
  reading.usage = read_one(watched.usage, dir, "memory.usage", "usage_bytes");
  reading.stalled_us = read_one(watched.pressure, dir, "memory.pressure", "some_total_us");
  return reading;
}

// Returns nullopt if a value cannot be read for any reason. Each call tries again, so a file that appears later is
// found.
std::optional<std::int64_t> HighIntents::read_one(plugin::CgroupFile& file, const std::string& dir,
                                                  std::string_view name, std::string_view key) {
  if (!file && file.open(host_, cgroup_, dir, name, {key}) != KOORD_OK) return std::nullopt;
  std::int64_t values[1] = {KOORD_ABSENT};
  const koord_status status = file.read(values);
  if (status == KOORD_E_GONE) file = {};
  if (status != KOORD_OK || values[0] == KOORD_ABSENT) return std::nullopt;
  return values[0];
}

}  // namespace koord::cgroup_reconcile
