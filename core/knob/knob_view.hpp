// SPDX-License-Identifier: Apache-2.0
// A view of a knob: its value, the original, its parts, and the intents for it. Plain values.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/mode.hpp"
#include "core/decision/decision.hpp"
#include "core/knob/composition.hpp"
#include "core/knob/subjects.hpp"

namespace koord::knob {

// One active intent.
struct IntentView {
  decision::Decision decision = {};  // as a record of it would be now; `time`: when the outcome was decided
  Mode mode = Mode::shadow;
  Time until{};  // when it ends unless it is proposed again
};

struct KnobView {
  decision::Level level = decision::Level::qos;
  std::string cgroup_dir;
  std::string knob;                 // with the item of one that has items: "io.max 8:16"
  Subject subject = {};             // its owner; empty: no pod
  std::string value;                // now; empty: it cannot be read,
  std::string problem;              // and why
  bool is_held = false;             // it has a value of ours
  std::string holder;               // the holding plugin
  std::string original;             // value of a revert; for a held knob
  std::string revert_problem;       // why the original could not be written back; empty: no attempt failed
  std::string composition;          // all parts of the value as an equation; empty: none is composed
  std::vector<Part> parts;          // the same one by one
  std::vector<IntentView> intents;  // the winner's first
};

// A knob that has its original value again because the strategy that held it may not hold it any more.
struct Release {
  std::string plugin, cgroup_dir, knob;
  std::string why;
  Subject subject;  // empty: of no pod
};
using OnRelease = std::function<void(std::vector<Release>)>;

}  // namespace koord::knob
