// SPDX-License-Identifier: Apache-2.0
// Verdicts: the standing verdicts about one resource for all containers of a node. Pure. [one thread at a time]
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/analysis/verdict_tracker.hpp"

namespace koord::analysis {

// A verdict that a window confirmed or cleared.
struct VerdictEvent {
  Change change{};
  Verdict verdict;
};

class Verdicts {
 public:
  explicit Verdicts(ConfirmationRule rule = {}) : rule_(rule) {}

  // Adds the finding about a container in the window that ended at this time. `rule`: for this container; null: the
  // rule for all. If the rule differs from the previous one, the standing verdict ends, and this window is ignored.
  std::optional<VerdictEvent> add(Time at, Subject subject, const Finding& finding,
                                  const ConfirmationRule* rule = nullptr);
  // Removes the verdicts of all other containers, because these have ended. This makes no events.
  void keep_only(const std::set<Subject>& living);

  // Ends all verdicts. From now on `rule` confirms them. Returns an event for each standing verdict.
  std::vector<VerdictEvent> restart(ConfirmationRule rule);

  // Returns the standing verdicts, sorted by subject.
  std::vector<Verdict> standing() const;

 private:
  ConfirmationRule rule_;
  std::map<Subject, VerdictTracker> trackers_;
};

}  // namespace koord::analysis
