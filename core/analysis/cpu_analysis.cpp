// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/cpu_analysis.hpp"

#include <algorithm>

namespace koord::analysis {
namespace {

// Buckets of the waits for one suspect. Waits inside the first bucket are not distinguished, to save memory.
constexpr Buckets kWaits{0.001, 16};

// Keys that no workload name can equal.
constexpr const char* kKernel = ":kernel";
constexpr const char* kOutside = ":outside";

// Returns the key of a suspect; "" if the container has ended.
std::string key_of(const Suspect& suspect, const std::map<Subject, const std::string*>& names) {
  if (suspect.kind == SuspectKind::kernel) return kKernel;
  if (suspect.kind == SuspectKind::outside) return kOutside;
  const auto name = names.find(suspect.subject);
  return name == names.end() ? std::string() : *name->second;
}

// Returns the number of samples that the histogram is worth at that time.
double samples_at(const Histogram& histogram, Time at) {
  return histogram.state().weights.empty() ? 0 : histogram.state().total / histogram.weight_at(at);
}

}  // namespace

std::vector<VerdictEvent> CpuAnalysis::add(Time at, const std::vector<CpuSubject>& subjects) {
  Names names;
  std::set<Subject> living;
  for (const CpuSubject& subject : subjects) {
    names[subject.window.subject] = &subject.workload;
    living.insert(subject.window.subject);
  }
  std::vector<VerdictEvent> events;
  for (const CpuSubject& subject : subjects) {
    Workload& workload =
        workloads_.try_emplace(subject.workload, Workload{Baseline(rules_.baseline), at, {}}).first->second;
    workload.seen = at;
    const Rules& rules = subject.rules ? *subject.rules : rules_;
    Finding finding = judge(subject.window, workload.baseline.quiet(), rules.cpu);
    compare_with_quiet(workload, at, finding.suspects, names);
    workload.baseline.add(at, finding.held_up_by_others);
    if (auto event = verdicts_.add(at, subject.window.subject, finding, &rules.confirmation))
      events.push_back(std::move(*event));
  }
  verdicts_.keep_only(living);
  keep_last_seen(workloads_, at - rules_.baseline.forget_after);
  return events;
}

// Sets the quiet waits for the suspects. Call it before the window is added to the baseline. A suspect without a
// baseline was missing in the earlier windows.
void CpuAnalysis::compare_with_quiet(Workload& workload, Time at, std::vector<Suspect>& suspects,
                                     const Names& names) const {
  std::map<std::string, double> waited;
  for (const Suspect& suspect : suspects)
    if (std::string key = key_of(suspect, names); !key.empty()) waited[std::move(key)] += suspect.waited;
  for (Suspect& suspect : suspects) {
    const auto known = workload.suspects.find(key_of(suspect, names));
    // The containers of a workload share its quiet level in proportion to their waits.
    if (known != workload.suspects.end() && suspect.waited > 0)
      suspect.quiet = known->second.quiet() * suspect.waited / waited.at(known->first);
  }
  for (const auto& [key, seconds] : waited) {
    if (seconds < kWaits.first || workload.suspects.contains(key)) continue;
    if (workload.suspects.size() >= kMaxQuietSuspects) {
      const auto gone = std::find_if(workload.suspects.begin(), workload.suspects.end(),
                                     [&](const auto& one) { return !waited.contains(one.first); });
      if (gone == workload.suspects.end()) continue;
      workload.suspects.erase(gone);
    }
    Baseline& baseline = workload.suspects.try_emplace(key, rules_.baseline, kWaits).first->second;
    if (const double samples = samples_at(workload.baseline.histogram(), at); samples > 0)
      baseline.add_known(at, 0, samples, workload.baseline.windows());
  }
  for (auto& [key, baseline] : workload.suspects) {
    const auto now = waited.find(key);
    baseline.add(at, now == waited.end() ? 0 : now->second);
  }
}

std::vector<SavedBaseline> CpuAnalysis::save(Time now) const {
  std::vector<SavedBaseline> all;
  for (const auto& [name, workload] : workloads_) {
    SavedBaseline saved{name, std::min(workload.seen, now), workload.baseline.windows(), {}, {}};
    saved.weights = workload.baseline.weights_at(saved.seen);
    for (const auto& [suspect, baseline] : workload.suspects)
      if (const double quiet = baseline.quiet(); quiet > 0) saved.quiet.emplace_back(suspect, quiet);
    all.push_back(std::move(saved));
  }
  return all;
}

void CpuAnalysis::adopt(const std::vector<SavedBaseline>& offered, Time now) {
  const auto windows_of = [this](const std::string& workload) {
    const auto own = workloads_.find(workload);
    return own == workloads_.end() ? 0 : own->second.baseline.windows();
  };
  restore(less_known(offered, rules_.baseline.windows, windows_of), now);
}

std::vector<VerdictEvent> CpuAnalysis::set_rules(const Rules& rules, Time now) {
  const std::vector<SavedBaseline> known = save(now);
  std::vector<VerdictEvent> ended = verdicts_.restart(rules.confirmation);
  *this = CpuAnalysis(rules);
  restore(known, now);
  return ended;
}

void CpuAnalysis::restore(const std::vector<SavedBaseline>& all, Time now) {
  for (const SavedBaseline& saved : all) {
    const Time seen = std::min(saved.seen, now);
    if (now - seen > rules_.baseline.forget_after || workloads_.size() >= kMaxWorkloads) continue;
    Workload workload{Baseline(rules_.baseline), seen, {}};
    const double samples = workload.baseline.add_kept(seen, saved.weights, saved.windows);
    if (samples <= 0) continue;
    for (const auto& [suspect, level] : saved.quiet) {
      // A level is the end of its bucket. This factor yields a value inside the bucket.
      constexpr double kBelowEnd = 0.98;
      workload.suspects.try_emplace(suspect, rules_.baseline, kWaits)
          .first->second.add_known(seen, kBelowEnd * level, samples, saved.windows);
    }
    workloads_.insert_or_assign(saved.workload, std::move(workload));
  }
}

}  // namespace koord::analysis
