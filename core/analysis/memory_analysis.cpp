// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/memory_analysis.hpp"

#include <algorithm>
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

std::vector<SavedBaseline> MemoryAnalysis::save(Time now) const {
  std::vector<SavedBaseline> all;
  for (const auto& [name, workload] : workloads_) {
    const Time seen = std::min(workload.seen, now);
    all.push_back({name, seen, workload.refault_time.windows(), workload.refault_time.weights_at(seen), {}});
  }
  return all;
}

void MemoryAnalysis::restore(const std::vector<SavedBaseline>& all, Time now) {
  for (const SavedBaseline& saved : all) {
    const Time seen = std::min(saved.seen, now);
    if (now - seen > rules_.baseline.forget_after || workloads_.size() >= kMaxWorkloads) continue;
    Workload workload{Baseline(rules_.baseline), seen};
    if (workload.refault_time.add_kept(seen, saved.weights, saved.windows) > 0)
      workloads_.insert_or_assign(saved.workload, std::move(workload));
  }
}

void MemoryAnalysis::adopt(const std::vector<SavedBaseline>& offered, Time now) {
  const auto windows_of = [this](const std::string& workload) {
    const auto own = workloads_.find(workload);
    return own == workloads_.end() ? 0 : own->second.refault_time.windows();
  };
  restore(less_known(offered, rules_.baseline.windows, windows_of), now);
}

}  // namespace koord::analysis
