// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/verdict_tracker.hpp"

#include <algorithm>
#include <utility>

namespace koord::analysis {
namespace {

// The last windows count most: a verdict that stands for long shows what holds the victim up now.
constexpr int kAveragedWindows = 10;
// A suspect of earlier windows goes when its part of the waits is less.
constexpr double kLeastShare = 0.01;

// Into the average of n values before it.
void average(double& value, double next, int n) { value += (next - value) / std::min(n + 1, kAveragedWindows); }

void average_suspects(std::vector<Suspect>& suspects, std::vector<Suspect> next, int n) {
  for (const Suspect& suspect : next) suspect_in(suspects, suspect.kind, suspect.subject).quiet = suspect.quiet;
  for (const Suspect& suspect : suspects) suspect_in(next, suspect.kind, suspect.subject);
  double all = 0;
  for (const Suspect& other : next) {
    Suspect& suspect = suspect_in(suspects, other.kind, other.subject);
    average(suspect.waited, other.waited, n);
    average(suspect.usage, other.usage, n);
    all += suspect.waited;
  }
  std::erase_if(suspects, [&](Suspect& suspect) {
    return suspect_in(next, suspect.kind, suspect.subject).waited == 0 && suspect.waited < kLeastShare * all;
  });
  sort_by_wait(suspects);
}

}  // namespace

Change VerdictTracker::add(Time at, const Finding& finding) {
  seen_.push_back({at, finding});
  if (seen_.size() > static_cast<std::size_t>(rule_.windows)) seen_.pop_front();
  if (verdict_) {
    ++verdict_->windows_seen;
    if (finding.kind == verdict_->kind) extend(at, finding);
  }
  const std::optional<Kind> kind = confirmed_kind();
  if (kind && (!verdict_ || verdict_->kind != *kind)) {
    if (verdict_) last_ = verdict_;
    begin(*kind);
    return Change::confirmed;
  }
  if (verdict_ && at - verdict_->to >= rule_.clear) {
    last_ = std::exchange(verdict_, std::nullopt);
    return Change::cleared;
  }
  return Change::none;
}

std::optional<Kind> VerdictTracker::confirmed_kind() const {
  for (Kind kind :
       {Kind::interfered, Kind::shared_parent, Kind::self_quota, Kind::self_threads, Kind::self_memory_limit}) {
    const auto n =
        std::count_if(seen_.begin(), seen_.end(), [&](const Seen& seen) { return seen.finding.kind == kind; });
    if (n >= rule_.of_them) return kind;
  }
  return std::nullopt;
}

void VerdictTracker::begin(Kind kind) {
  verdict_ = Verdict{.victim = subject_, .kind = kind};
  windows_of_statistic_ = 0;
  for (const Seen& seen : seen_) {
    if (verdict_->windows_over > 0) ++verdict_->windows_seen;
    if (seen.finding.kind != kind) continue;
    if (verdict_->windows_over == 0) {
      verdict_->from = seen.at;
      verdict_->windows_seen = 1;
    }
    extend(seen.at, seen.finding);
  }
}

void VerdictTracker::extend(Time at, const Finding& finding) {
  const int n = verdict_->windows_over++;
  verdict_->to = at;
  // Figures of two names have no average.
  if (verdict_->statistic.name != finding.statistic.name) windows_of_statistic_ = 0;
  verdict_->statistic.name = finding.statistic.name;
  verdict_->statistic.baseline = finding.statistic.baseline;
  verdict_->statistic.threshold = finding.statistic.threshold;
  average(verdict_->statistic.value, finding.statistic.value, windows_of_statistic_++);
  average(verdict_->self, finding.self, n);
  average(verdict_->throttled, finding.throttled, n);
  average(verdict_->unexplained, finding.unexplained, n);
  average_suspects(verdict_->suspects, finding.suspects, n);
  verdict_->method = std::max(verdict_->method, finding.method);
}

}  // namespace koord::analysis
