// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/memory_analysis.hpp"

#include <set>

namespace koord::analysis {

std::vector<VerdictEvent> MemoryAnalysis::add(Time at, const std::vector<MemorySubject>& subjects) {
  std::vector<VerdictEvent> events;
  std::set<Subject> living;
  for (const MemorySubject& subject : subjects) {
    living.insert(subject.window.subject);
    Workload& workload = workloads_[subject.workload];
    workload.seen = at;
    const Finding finding = judge_memory(subject.window, workload.refault_time.quiet(), rule_);
    workload.refault_time.add(at, refault_time_of(subject.window));
    if (auto event = verdicts_.add(at, subject.window.subject, finding)) events.push_back(std::move(*event));
  }
  verdicts_.keep_only(living);
  keep_last_seen(workloads_, at - kForgetAfter);
  return events;
}

}  // namespace koord::analysis
