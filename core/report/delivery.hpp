// SPDX-License-Identifier: Apache-2.0
// Delivery: decides when one object of the API server is written. A change is written as soon as the cluster's interval
// allows, an unchanged object at the heartbeat. Each node has its own moments, so that thousands do not write at once,
// and only the newest state is ever written: there is no queue. No I/O and no clock: times in, decisions out. Not
// thread-safe.
//
//   accepted at t    a change is due from t + interval × (1 … 1.1) on, and anything at t + heartbeat × (29/30 … 1)
//   refused at t     nothing before t + 10 s × 2^n × (0.5 … 1), up to half a minute to a minute, nor before Retry-After
//   begun at t       what the API server has counts as accepted when it says so; what is overdue is due within 30 s,
//                    all else not before 30 s to a minute, when what is reported from has settled
//
// Never two attempts within 10 s. The bounds are relied on by readers: see README.md.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/clock.hpp"

namespace koord::report {

struct DeliveryOptions {
  Duration heartbeat = std::chrono::minutes(1);  // how old the report gets at most, unless `interval` is longer
  Duration interval = std::chrono::minutes(1);   // of the spec: the shortest time between two reports
  double change_percent = 5;                     // a change must be greater; what change() of reported.hpp measures
};

class Delivery {
 public:
  static constexpr Duration kLeastGap = std::chrono::seconds(10);
  static constexpr Duration kCatchUp = std::chrono::seconds(30);
  static constexpr Duration kMostBackOff = std::chrono::minutes(1);

  // `seed`: of this node, for what it draws.
  Delivery(const DeliveryOptions& options, std::uint64_t seed) : options_(options), random_(seed) {}

  // The spec or the configuration changed. Random delays are kept in proportion.
  void set_options(const DeliveryOptions& options) { options_ = options; }

  // The object of the API server is known: a report of this age, or none. Called once, before anything is due.
  void begin(Time now, std::optional<Duration> age);
  bool begun() const { return begun_; }

  // Whether to write now, given how much changed since the last report: percent, infinite for what has no measure.
  bool due(Time now, double change) const;
  // When due() may say yes next, changed or not; looking earlier is harmless.
  Time next_change() const;
  Time next_heartbeat() const;

  void accepted(Time now);
  void refused(Time now, std::optional<Duration> retry_after);

 private:
  double draw();  // [0, 1)

  DeliveryOptions options_;
  std::uint64_t random_;
  bool begun_ = false;
  Time last_{};  // of the report that counts
  bool has_last_ = false;
  double early_ = 0, late_ = 0;  // drawn for it, [0, 1)
  Time not_before_{};            // whatever else says
  std::uint32_t failures_ = 0;
};

}  // namespace koord::report
