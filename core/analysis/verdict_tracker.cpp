// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/verdict_tracker.hpp"

#include <algorithm>
#include <utility>

namespace koord::analysis {
namespace {

using namespace std::chrono_literals;

// A verdict's values are averages over this time. So the verdict shows the current suspects, not a suspect that has
// ended.
constexpr Duration kAveragedTime = 10s;

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
  averaged_.clear();
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
  ++verdict_->windows_over;
  verdict_->to = at;
  averaged_.push_back({at, finding});
  while (at - averaged_.front().at >= kAveragedTime) averaged_.pop_front();
  average();
}

void VerdictTracker::average() {
  const auto windows = static_cast<double>(averaged_.size());
  Verdict& verdict = *verdict_;
  verdict.suspects.clear();
  verdict.self = verdict.throttled = verdict.unexplained = 0;
  verdict.method = Method::exact;
  // Values with different names cannot be averaged.
  verdict.statistic = averaged_.back().finding.statistic;
  verdict.statistic.value = 0;
  double of_statistic = 0;
  for (const Seen& seen : averaged_) {
    const Finding& finding = seen.finding;
    if (finding.statistic.name == verdict.statistic.name) {
      verdict.statistic.value += finding.statistic.value;
      ++of_statistic;
    }
    for (const Suspect& one : finding.suspects) {
      Suspect& suspect = suspect_in(verdict.suspects, one.kind, one.subject);
      suspect.waited += one.waited / windows;
      suspect.usage += one.usage / windows;
      suspect.quiet = one.quiet;
    }
    verdict.self += finding.self / windows;
    verdict.throttled += finding.throttled / windows;
    verdict.unexplained += finding.unexplained / windows;
    verdict.method = std::max(verdict.method, finding.method);
  }
  verdict.statistic.value /= of_statistic;
  sort_by_wait(verdict.suspects);
}

}  // namespace koord::analysis
