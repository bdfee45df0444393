// SPDX-License-Identifier: Apache-2.0
// PlanSink: takes what strategies propose. One evaluate() gives one plan, which replaces the strategy's plan before.
// Governor (governor.hpp) is the one that decides; tests have others. [any thread]
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decision/modes.hpp"
#include "core/decision/outcome.hpp"
#include "core/decision/proposer.hpp"
#include "core/knob/intent.hpp"

namespace koord::knob {

// The result of one intent.
struct IntentResult {
  decision::Outcome outcome = decision::Outcome::off;
  std::string knob, cgroup_dir;
  std::string final_value;  // the knob's; empty: not known
  std::string winner;       // the plugin of the winning intent; empty: none
  std::string problem;      // why it is not applied; empty: unknown or no failure
};

// Reports to a strategy; must only post, and may come on any thread, also before take() returns.
using ReportResults = std::function<void(std::vector<IntentResult>)>;

class PlanSink {
 public:
  virtual ~PlanSink() = default;
  // `report_results` gets the result of each intent, at once, and later the changed ones.
  virtual void take(const decision::Proposer& proposer, Plan plan, ReportResults report_results) = 0;
  // The same plan as the last, word for word. false: it does not stand any more, take it.
  virtual bool repeat(const decision::Proposer& /*proposer*/) { return false; }
  // The strategy has ended: all its intents end.
  virtual void withdraw(const decision::Proposer& proposer) = 0;
  // Sets the mode of all strategies of a plugin, from now on; nullopt: the node's.
  virtual void set_mode(std::string_view plugin, std::optional<Mode> mode) = 0;
};

}  // namespace koord::knob
