// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/verdicts.hpp"

namespace koord::analysis {

std::optional<VerdictEvent> Verdicts::add(Time at, Subject subject, const Finding& finding,
                                          const ConfirmationRule* rule) {
  if (rule == nullptr) rule = &rule_;
  VerdictTracker& tracker = trackers_.try_emplace(subject, subject, *rule).first->second;
  if (tracker.rule() != *rule) {
    const std::optional<Verdict> stood = tracker.verdict() ? std::optional(*tracker.verdict()) : std::nullopt;
    tracker = VerdictTracker(subject, *rule);
    return stood ? std::optional(VerdictEvent{Change::cleared, *stood}) : std::nullopt;
  }
  switch (const Change change = tracker.add(at, finding)) {
    case Change::confirmed:
      return VerdictEvent{change, *tracker.verdict()};
    case Change::cleared:
      return VerdictEvent{change, *tracker.last()};
    case Change::none:
      break;
  }
  return std::nullopt;
}

void Verdicts::keep_only(const std::set<Subject>& living) {
  std::erase_if(trackers_, [&](const auto& one) { return !living.contains(one.first); });
}

std::vector<VerdictEvent> Verdicts::restart(ConfirmationRule rule) {
  std::vector<VerdictEvent> ended;
  for (Verdict& verdict : standing()) ended.push_back({Change::cleared, std::move(verdict)});
  trackers_.clear();
  rule_ = rule;
  return ended;
}

std::vector<Verdict> Verdicts::standing() const {
  std::vector<Verdict> all;
  for (const auto& [subject, tracker] : trackers_)
    if (tracker.verdict()) all.push_back(*tracker.verdict());
  return all;
}

}  // namespace koord::analysis
