// SPDX-License-Identifier: Apache-2.0
#include "core/knob/recent_readings.hpp"

#include "core/knob/executor.hpp"

namespace koord::knob {

const RecentReadings::Recent& RecentReadings::of(const Knob& knob, const std::string& cgroup_dir, const std::string& item, Duration most_age) {
  Kept& kept = kept_[{cgroup_dir, std::string(knob.name), item}];
  const Time now = clock_.now();
  // A cgroup that is not there yet is made in a moment.
  const bool is_new = kept.round == 0 || kept.recent.outcome == Outcome::gone || now - kept.read_at >= most_age;
  kept.round = round_;
  if (!is_new) return kept.recent;
  kept.read_at = now;
  Result<KnobFiles::Reading> reading = files_.read({knob, cgroup_dir, item});
  if (reading)
    kept.recent = {Outcome::shadow, spell(knob, reading->value), {}};
  else
    kept.recent = {outcome_of(reading.error()), {}, reading.error().message()};
  return kept.recent;
}

void RecentReadings::end_round() {
  std::erase_if(kept_, [&](const auto& entry) { return entry.second.round != round_; });
  ++round_;
}

}  // namespace koord::knob
