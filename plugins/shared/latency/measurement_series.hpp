// SPDX-License-Identifier: Apache-2.0
// Metrics of a latency plugin about its own measurement, and its requests to the host at start. Used on the plugin's
// strand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "koordetector/plugin.hpp"
#include "plugins/shared/latency/windows.hpp"

namespace koord::latency {

class MeasurementSeries {
 public:
  MeasurementSeries() = default;
  // Defines "<prefix>_latency_info", "…_lost_total" and "…_slots_used". `cases`: what the plugin counts, for example
  // "waits".
  MeasurementSeries(const koord_host* host, const std::string& prefix, const std::string& cases);

  // Ends the info series and makes a new one with this label `source`.
  void set_source(std::string_view source);
  // Returns the series of cases that are lost for this reason, in addition to the reasons that report() uses.
  std::uint64_t lost(std::string_view reason) const { return lost_.series(KOORD_NO_SUBJECT, {{"reason", reason}}); }

  // Adds the values to the batch. `unassigned`: number of cases that are counted for no cgroup.
  template <class Total>
  void report(const Reading<Total>& reading, std::uint64_t unassigned, plugin::Batch& batch) const {
    batch.add(info_series_, 1);
    if (reading.slots == 0) return;
    batch.add(lost_no_slot_, static_cast<double>(unassigned));
    batch.add(lost_no_begin_, static_cast<double>(reading.lost_begins));
    batch.add(lost_missed_, static_cast<double>(reading.missed_events));
    batch.add(slots_used_, reading.slots_used);
  }

 private:
  const koord_host* host_ = nullptr;
  plugin::Metric info_, lost_;
  std::uint64_t info_series_ = 0, lost_no_slot_ = 0, lost_no_begin_ = 0, lost_missed_ = 0, slots_used_ = 0;
};

}  // namespace koord::latency
