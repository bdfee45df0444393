// SPDX-License-Identifier: Apache-2.0
// Step: one knob on its way to a value that was decided, or back to its original. The executor makes the steps of a
// round from its orders, the planner alters and orders them, and the executor writes them. Plain values.
#pragma once

#include <string>

#include "core/base/clock.hpp"
#include "core/decision/intent_terms.hpp"
#include "core/decision/outcome.hpp"
#include "core/knob/knob.hpp"
#include "core/knob/knob_files.hpp"
#include "core/knob/originals.hpp"

namespace koord::knob {

// A knob's value, decided.
struct Order {
  decision::Level level;
  std::string cgroup_dir;
  const Knob* knob;
  Value value;
  std::string plugin = {};  // the owner of the intent
  Duration ttl{0};          // of the intent
  // Only bounds the value that the knob has without the agent. If another process writes the knob, that value is the
  // original from then on.
  bool bounds_original = false;
};

struct Done {
  decision::Outcome outcome = decision::Outcome::failed;
  std::string before, after;  // empty: could not be read
  std::string problem;        // empty: none; of one that is applied, how the value was altered
  Time good_until = {};       // of an order: until then its result stays the same unless another event changes it
};

struct Step {
  decision::Level level = decision::Level::qos;
  KnobKey key = {};
  const Knob* knob = nullptr;
  Value target = {};                             // as the kernel will say it
  Value asked = {};                              // as it is written to the kernel
  const KnobFiles::Reading* original = nullptr;  // for a knob that is reverted
  KnobFiles::Reading now = {};
  bool writes = false;
  Done done = {};
  const Order* order = nullptr;   // nullptr: a revert
  Value before = {};              // at the start of the batch
  bool refused = false;           // by the kernel
  std::string remark = {};        // how the target had to be altered
  bool is_seen = false;           // it needed no look
  bool has_new_original = false;  // the value of another process; the order was made from the one before

  // The planner resets these two in each plan.
  std::string conflict = {};  // why it cannot be; then it is not written
  std::string altered = {};   // how the target was altered; empty: it was not
};

}  // namespace koord::knob
