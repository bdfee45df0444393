// SPDX-License-Identifier: Apache-2.0
// Modes: the mode of each strategy. The configuration sets it for a plugin or for the node. An operator may override it
// for a limited time, in memory only. An override of the node is a ceiling: no strategy may do more, whatever its own
// mode is. Pure. [one thread at a time]
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/mode.hpp"
#include "core/base/result.hpp"

namespace koord::decision {

// Instead of a plugin: the node.
inline constexpr std::string_view kNodeTarget = "node";

class Modes {
 public:
  struct Override {
    Mode mode;
    Time until;  // Time::max(): until an operator lifts it
    std::string by = "an operator";
  };
  static constexpr Duration kLeastOverride = std::chrono::seconds(1), kMostOverride = std::chrono::hours(7 * 24);

  // As configured; nullopt: the node's.
  void configure(std::string_view plugin, std::optional<Mode> mode);
  void configure_node(Mode mode) { node_ = mode; }

  // Overrides the mode of a plugin or of kNodeTarget. nullopt: as configured. Fails if the override
  // is not valid, and changes nothing.
  Result<void> override_mode(std::string_view target, std::optional<Override> what);
  // Removes expired overrides, and returns their targets.
  std::vector<std::string> expire(Time now);

  Mode of(std::string_view plugin) const;
  // An operator has switched all strategies off.
  bool is_hands_off() const { return ceiling_ && ceiling_->mode == Mode::off; }

  // The modes of one plugin, or of the node.
  struct View {
    std::string target;
    std::optional<Mode> configured;
    std::optional<Override> override_mode;
    Mode mode = Mode::shadow;  // the effective mode
  };
  View view(std::string_view target) const;

 private:
  Mode node_ = Mode::shadow;
  std::map<std::string, Mode, std::less<>> configured_;
  std::optional<Override> ceiling_;
  std::map<std::string, Override, std::less<>> overrides_;
};

}  // namespace koord::decision
