// SPDX-License-Identifier: Apache-2.0
// Delivery: decides when one object of the API server is written. A change is written as soon as the cluster's interval
// allows, an unchanged object at the heartbeat. Random delays per node prevent thousands of nodes from writing at the
// same time. Only the newest state is written, so no queue exists. No I/O and no clock: times are passed in, and
// decisions are returned. Not thread-safe.
//
//   accepted at t: a change is due from t + interval × (1 … 1.1) on, an unchanged object at t + heartbeat × (29/30 … 1)
//   refused at t: no attempt before t + 10 s × 2^n × (0.5 … 1), which grows up to between half a minute and a minute,
//     nor before Retry-After
//   begun at t: an object in the API server counts as an accepted report. An overdue report is due within 30 s; any
//     other not before 30 s to a minute, when its inputs are stable
//
// Two attempts are at least 10 s apart. Readers rely on these bounds: see README.md.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/clock.hpp"

namespace koord::report {

struct DeliveryOptions {
  Duration heartbeat = std::chrono::minutes(1);  // maximum age of the report, unless `interval` is longer
  Duration interval = std::chrono::minutes(1);   // from the spec: minimum time between two reports
  double change_percent = 5;                     // a smaller change is not written; see change() in reported.hpp
};

class Delivery {
 public:
  static constexpr Duration kLeastGap = std::chrono::seconds(10);
  static constexpr Duration kCatchUp = std::chrono::seconds(30);
  static constexpr Duration kMostBackOff = std::chrono::minutes(1);

  // `seed`: seed of this node for random delays.
  Delivery(const DeliveryOptions& options, std::uint64_t seed) : options_(options), random_(seed) {}

  // Called when the spec or the configuration has changed. Random delays keep their proportion.
  void set_options(const DeliveryOptions& options) { options_ = options; }

  // Called once, when the API server's object is known. `age`: the age of its report; nullopt: it has none. Nothing is
  // due before this call.
  void begin(Time now, std::optional<Duration> age);
  bool begun() const { return begun_; }

  // Returns whether to write now. `change`: the change since the last report in percent; infinite if it cannot be
  // measured.
  bool due(Time now, double change) const;
  // Return the next time when due() may return true, for a changed and for an unchanged object. Earlier calls of due()
  // are harmless.
  Time next_change() const;
  Time next_heartbeat() const;

  void accepted(Time now);
  void refused(Time now, std::optional<Duration> retry_after);

 private:
  double draw();  // [0, 1)

  DeliveryOptions options_;
  std::uint64_t random_;
  bool begun_ = false;
  Time last_{};  // time of the last accepted report
  bool has_last_ = false;
  double early_ = 0, late_ = 0;  // random delays for this report, [0, 1)
  Time not_before_{};            // no attempt before this time
  std::uint32_t failures_ = 0;
};

}  // namespace koord::report
