// SPDX-License-Identifier: Apache-2.0
// RecentReadings: what knobs have that are only looked at, because the strategies that wish for them are in shadow. A value is
// believed for a while, so that a round in which nothing is new reads nothing. [one thread at a time]
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/base/clock.hpp"
#include "core/knob/knob_files.hpp"
#include "core/knob/originals.hpp"
#include "core/knob/plan_sink.hpp"

namespace koord::knob {

class RecentReadings {
 public:
  struct Recent {
    Outcome outcome = Outcome::shadow;  // or why it cannot be read,
    std::string value;
    std::string problem;                // in words
  };

  // Both outlive it.
  RecentReadings(const KnobFiles& files, const Clock& clock) : files_(files), clock_(clock) {}

  // Valid until the next call.
  const Recent& of(const Knob& knob, const std::string& cgroup_dir, const std::string& item, Duration most_age);

  // Something has been written.
  void forget() { kept_.clear(); }

  // Ends a round: what was not asked for in it is forgotten.
  void end_round();

 private:
  struct Kept {
    Recent recent;
    Time read_at{};
    std::uint64_t round = 0;
  };

  const KnobFiles& files_;
  const Clock& clock_;
  std::map<KnobKey, Kept> kept_;  // by the knob's name for the resource
  std::uint64_t round_ = 1;
};

}  // namespace koord::knob
