// SPDX-License-Identifier: Apache-2.0
// Verdicts: the standing verdicts about one resource of all containers of a node. Pure. [one thread at a time]
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/analysis/verdict_tracker.hpp"

namespace koord::analysis {

// A verdict that was confirmed or cleared with a window.
struct VerdictEvent {
  Change change{};
  Verdict verdict;
};

class Verdicts {
 public:
  explicit Verdicts(ConfirmationRule rule = {}) : rule_(rule) {}

  // The finding about a container in the window that ended at this time. `rule`: of this container; null: that of all.
  // If it is another one than before, the standing verdict ends, and this window does not count.
  std::optional<VerdictEvent> add(Time at, Subject subject, const Finding& finding,
                                  const ConfirmationRule* rule = nullptr);
  // All others have ended: their verdicts go without an event.
  void keep_only(const std::set<Subject>& living);

  // All end, and are confirmed by `rule` from now on. Returns an event for each that stood.
  std::vector<VerdictEvent> restart(ConfirmationRule rule);

  // In the order of their subjects.
  std::vector<Verdict> standing() const;

 private:
  ConfirmationRule rule_;
  std::map<Subject, VerdictTracker> trackers_;
};

}  // namespace koord::analysis
