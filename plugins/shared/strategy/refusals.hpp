// SPDX-License-Identifier: Apache-2.0
// What is told of a strategy's wishes that do not hold: a line for each knob and reason, once, however many cgroups it is about
// and however often the wish is repeated. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "koordetector/plugin.hpp"

namespace koord::strategy {

class Refusals {
 public:
  // Lines for the log. That an operator lets the strategy run and not write (shadow) is no news of the strategy.
  std::vector<std::string> news(plugin::Strided<koord_intent_result> results);

 private:
  std::map<std::string, std::set<std::string>, std::less<>> told_;  // reasons, by knob
};

// Knobs that this node does not have, as the answers to wishes tell: not wished for any more, but asked again after a while,
// because a kernel's files may come with a controller that somebody switches on.
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
