// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/cpu_analysis.hpp"

#include <set>

namespace koord::analysis {

std::vector<CpuAnalysis::Event> CpuAnalysis::add(Time at, const std::vector<CpuSubject>& subjects) {
  std::vector<CpuWindow> windows;
  std::set<Subject> living;
  for (const CpuSubject& subject : subjects) {
    windows.push_back(subject.window);
    living.insert(subject.window.subject);
  }
  std::vector<Event> events;
  for (const CpuSubject& subject : subjects) {
    Workload& workload = workloads_[subject.workload];
    workload.seen = at;
    const Finding finding = judge(subject.window, windows, workload.baseline.quiet(), rule_);
    workload.baseline.add(at, finding.held_up_by_others);
    VerdictTracker& tracker =
        trackers_.try_emplace(subject.window.subject, subject.window.subject, confirmation_).first->second;
    const Change change = tracker.add(at, finding);
    if (change == Change::confirmed) events.push_back({change, *tracker.verdict()});
    if (change == Change::cleared) events.push_back({change, *tracker.last()});
  }
  std::erase_if(trackers_, [&](const auto& one) { return !living.contains(one.first); });
  std::erase_if(workloads_, [&](const auto& one) { return at - one.second.seen > kForgetAfter; });
  return events;
}

std::vector<Verdict> CpuAnalysis::verdicts() const {
  std::vector<Verdict> verdicts;
  for (const auto& one : trackers_)
    if (const Verdict* verdict = one.second.verdict()) verdicts.push_back(*verdict);
  return verdicts;
}

}  // namespace koord::analysis
