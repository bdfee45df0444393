// SPDX-License-Identifier: Apache-2.0
#include "core/knob/recent_readings.hpp"

#include "core/knob/executor.hpp"
#include "core/knob/resctrl.hpp"

namespace koord::knob {
namespace {

// Returns whether the host would make the missing resctrl group. Such a group has not ended.
bool would_be_made(const Knob& knob, std::string_view group, const Error& error) {
  return knob.place == Place::schemata && group.starts_with(Resctrl::kOwnPrefix) &&
         outcome_of(error) == decision::Outcome::gone;
}

}  // namespace

const RecentReadings::Recent& RecentReadings::of(const Knob& knob, const std::string& cgroup_dir,
                                                 const std::string& item, Duration most_age) {
  auto [kept, is_new] = kept_.try_emplace({cgroup_dir, std::string(knob.name), item});
  Recent& recent = kept->second;
  const Time now = clock_.now();
  // A missing cgroup is read each time, because it may be created at any moment.
  if (!is_new && recent.outcome != decision::Outcome::gone && now - recent.read_at < most_age) return recent;
  Result<KnobFiles::Reading> reading = files_.read({knob, cgroup_dir, item});
  if (reading)
    recent = {decision::Outcome::shadow, spell(knob, reading->value), {}, now};
  else if (would_be_made(knob, cgroup_dir, reading.error()))
    recent = {decision::Outcome::shadow, {}, {}, now};
  else
    recent = {outcome_of(reading.error()), {}, reading.error().message(), now};
  return recent;
}

void RecentReadings::forget(const Knob& knob, const std::string& cgroup_dir, const std::string& item) {
  kept_.erase({cgroup_dir, std::string(knob.name), item});
}

}  // namespace koord::knob
