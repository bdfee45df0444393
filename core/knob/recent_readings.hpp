// SPDX-License-Identifier: Apache-2.0
// RecentReadings: values of knobs that are only read, because the strategies that propose them are in shadow. A value
// is used for a while, so that a round in which nothing is new reads nothing. [one thread at a time]
#pragma once

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
    decision::Outcome outcome = decision::Outcome::shadow;  // or why it cannot be read,
    std::string value;
    std::string problem;  // in words
    Time read_at{};
  };

  // Both outlive it.
  RecentReadings(const KnobFiles& files, const Clock& clock) : files_(files), clock_(clock) {}

  // Valid until the next call.
  const Recent& of(const Knob& knob, const std::string& cgroup_dir, const std::string& item, Duration most_age);

  // The knob is not proposed any more.
  void forget(const Knob& knob, const std::string& cgroup_dir, const std::string& item);
  // Something has been written.
  void forget_all() { kept_.clear(); }

 private:
  const KnobFiles& files_;
  const Clock& clock_;
  std::map<KnobKey, Recent> kept_;  // by the knob's name for the resource
};

}  // namespace koord::knob
