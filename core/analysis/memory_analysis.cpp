// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/memory_analysis.hpp"

#include <set>

namespace koord::analysis {

std::vector<VerdictEvent> MemoryAnalysis::set_rules(const Rules& rules) {
  const BaselineRule &old = rules_.baseline, &now = rules.baseline;
  if (now.quiet_share != old.quiet_share || now.windows != old.windows || now.half_life != old.half_life)
    workloads_.clear();
  rules_ = rules;
  return verdicts_.restart(rules.confirmation);
}

std::vector<VerdictEvent> MemoryAnalysis::add(Time at, const std::vector<MemorySubject>& subjects) {
  std::vector<VerdictEvent> events;
  std::set<Subject> living;
  for (const MemorySubject& subject : subjects) {
    living.insert(subject.window.subject);
    Workload& workload =
        workloads_.try_emplace(subject.workload, Workload{Baseline(rules_.baseline), at}).first->second;
    workload.seen = at;
    const Rules& rules = subject.rules ? *subject.rules : rules_;
    const Finding finding = judge_memory(subject.window, workload.refault_time.quiet(), rules.memory);
    workload.refault_time.add(at, refault_time_of(subject.window));
    if (auto event = verdicts_.add(at, subject.window.subject, finding, &rules.confirmation))
      events.push_back(std::move(*event));
  }
  verdicts_.keep_only(living);
  keep_last_seen(workloads_, at - rules_.baseline.forget_after);
  return events;
}

}  // namespace koord::analysis
