// SPDX-License-Identifier: Apache-2.0
// Reports a strategy's intents that are not in effect. Each knob and reason gets one line, for any number of cgroups
// and repetitions. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/problem_tracker.hpp"
#include "koordetector/plugin.hpp"

namespace koord::strategy {

class Refusals {
 public:
  // Returns new lines for the log. An intent that is not written only because of the operator's mode (shadow) is not
  // reported.
  std::vector<std::string> new_lines(plugin::Strided<koord_intent_result> results);

 private:
  ProblemTracker reported_;  // key: knob and reason
};

// Knobs that this node does not have, from the results of intents. They are not proposed for a while and then tried
// again, because files appear when a controller is enabled later.
class MissingKnobs {
 public:
  static constexpr std::chrono::nanoseconds kAskAgain = std::chrono::minutes(10);

  void learn(plugin::Strided<koord_intent_result> results, std::uint64_t now_ns);
  bool missing(std::string_view knob, std::uint64_t now_ns) const;
  std::vector<std::string> names(std::uint64_t now_ns) const;

 private:
  std::map<std::string, std::uint64_t, std::less<>> until_;
};

}  // namespace koord::strategy
