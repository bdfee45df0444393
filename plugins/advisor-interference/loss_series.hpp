// SPDX-License-Identifier: Apache-2.0
// LossSeries: metrics about the measurement itself: waits that the programs lost, by reason, and the usage of their
// slots for cgroups. Header-only. Used on the plugin's strand.
#pragma once

#include <cstdint>
#include <string_view>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-interference/cpu_blame.hpp"

namespace koord::interference {

class LossSeries {
 public:
  LossSeries() = default;
  explicit LossSeries(const koord_host* host)
      : seconds_(host,
                 {"interference_lost_seconds_total", "seconds",
                  "Waits that are charged to no culprit, by reason. no_pair: more pairs of victim and culprit met "
                  "than the programs hold. no_slot: waits of cgroups without a slot, of any length. unknown: the "
                  "culprit ran longer ago than the programs remember, or has no slot.",
                  1e-6, KOORD_COUNTER}),
        waits_(host,
               {"interference_lost_waits_total", "waits",
                "Waits that are in no figure, by reason. no_begin: the thread has no storage. missed: the kernel did "
                "not run a program, because it came while the one before ran.",
                1, KOORD_COUNTER}),
        no_pair_(seconds("no_pair")),
        no_slot_(seconds("no_slot")),
        unknown_(seconds("unknown")),
        no_begin_(waits("no_begin")),
        missed_(waits("missed")),
        slots_(plugin::Metric(host, {"interference_slots", "slots", "Cgroups for which the programs have a place."})
                   .series(KOORD_NO_SUBJECT)),
        slots_used_(plugin::Metric(host, {"interference_slots_used", "slots", "Cgroups that have a place."})
                        .series(KOORD_NO_SUBJECT)) {}

  // Call it once for each reading.
  void report(const CpuReading& reading, plugin::Batch& batch) {
    for (const Blame& blame : reading.blames)
      if (blame.victim != 0 && blame.occupant == Occupant::unknown) unknown_ns_ += blame.ns;
    const CpuTimes without_slot = reading.times.unassigned.value_or(CpuTimes());
    batch.add(no_pair_, static_cast<double>(reading.unplaced_ns) / 1e9);
    batch.add(no_slot_, static_cast<double>(without_slot.wait) / 1e9);
    batch.add(unknown_, static_cast<double>(unknown_ns_) / 1e9);
    batch.add(no_begin_, static_cast<double>(reading.times.lost_begins));
    batch.add(missed_, static_cast<double>(reading.times.missed_events));
    batch.add(slots_, reading.times.slots);
    batch.add(slots_used_, reading.times.slots_used);
  }

 private:
  std::uint64_t seconds(std::string_view reason) const {
    return seconds_.series(KOORD_NO_SUBJECT, {{"reason", reason}});
  }
  std::uint64_t waits(std::string_view reason) const { return waits_.series(KOORD_NO_SUBJECT, {{"reason", reason}}); }

  plugin::Metric seconds_, waits_;
  std::uint64_t no_pair_ = 0, no_slot_ = 0, unknown_ = 0, no_begin_ = 0, missed_ = 0, slots_ = 0, slots_used_ = 0;
  std::uint64_t unknown_ns_ = 0;  // since the plugin started
};

}  // namespace koord::interference
