// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/cache_analysis.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/analysis/correlation.hpp"

namespace koord::analysis {
namespace {

constexpr float kUnknownValue = std::numeric_limits<float>::quiet_NaN();

bool is_seldom_over(const std::vector<float>& values, double limit) {
  std::size_t known = 0, over = 0;
  for (const float value : values) {
    known += std::isfinite(value) ? 1 : 0;
    over += value > limit ? 1 : 0;
  }
  return static_cast<double>(over) <= CacheAnalysis::kFewOver * static_cast<double>(known);
}

bool is_below(const std::string& cgroup, const std::string& above) {
  return !above.empty() && cgroup.size() > above.size() && cgroup.starts_with(above) && cgroup[above.size()] == '/';
}

// Returns whether both count the same threads, because they are the same container or one cgroup is below the other.
bool is_part_of(const CacheSubject& a, const CacheSubject& b) {
  return a.window.subject == b.window.subject || (!a.cgroup.empty() && a.cgroup == b.cgroup) ||
         is_below(a.cgroup, b.cgroup) || is_below(b.cgroup, a.cgroup);
}

}  // namespace

// Stores the window. A new container used nothing before, so its usage is 0 in earlier windows.
void CacheAnalysis::remember(const CacheWindow& window) {
  Series& series = series_.try_emplace(window.subject, Series{.since = window_}).first->second;
  series.too_many <<= 1;
  if (series.cpi.empty()) {
    if (!window.is_counted) return;
    for (auto* values : {&series.cpi, &series.instructions}) values->assign(kWindows, kUnknownValue);
    for (auto* values : {&series.usage, &series.llc_misses}) {
      values->assign(kWindows, 0);
      const std::size_t listed = std::min(window_ - series.since, kWindows);
      for (std::size_t i = 1; i <= listed; ++i) (*values)[(window_ - i) % kWindows] = kUnknownValue;
    }
  }
  const std::size_t place = window_ % kWindows;
  const double cpi = cpi_of(window, rules_.rule);
  const auto known = [&](double value) { return window.is_counted ? static_cast<float>(value) : kUnknownValue; };
  series.cpi[place] = cpi > 0 ? static_cast<float>(cpi) : kUnknownValue;
  series.usage[place] = known(window.usage);
  series.llc_misses[place] = known(window.llc_misses);
  series.instructions[place] = known(window.instructions);
}

bool CacheAnalysis::has_alarm(const Series& series) const {
  const std::uint64_t last = ~std::uint64_t{0} >> (64 - std::clamp(rules_.rule.windows, 1, 64));
  return std::popcount(series.too_many & last) >= rules_.rule.of_them;
}

// Returns how much higher the load is in recent windows with too many cycles than in earlier windows, in standard
// deviations. The load of a container is the number of instructions that it executes.
double CacheAnalysis::own_load(const Series& series, double limit) const {
  double usual = 0, squares = 0, over = 0;
  int n_usual = 0, n_over = 0;
  for (std::size_t age = 0; age < kWindows; ++age) {
    const std::size_t place = (window_ + kWindows - age) % kWindows;
    const double load = series.instructions[place], cpi = series.cpi[place];
    if (!std::isfinite(cpi) || !std::isfinite(load)) continue;
    if (age < static_cast<std::size_t>(rules_.rule.windows)) {
      if (cpi > limit) over += (load - over) / ++n_over;
      continue;
    }
    const double distance = load - usual;
    usual += distance / ++n_usual;
    squares += distance * (load - usual);
  }
  const double deviation = n_usual > 0 ? std::sqrt(squares / n_usual) : 0;
  return n_over > 0 && deviation > 0 ? (over - usual) / deviation : 0;
}

double CacheAnalysis::correlation_with(const Series& victim, const std::vector<float>& values) const {
  return correlation(victim.cpi, values, kFewestWindows).value_or(-1);
}

std::vector<CacheNeighbour> CacheAnalysis::neighbours_of(const Series& series, const CacheSubject& victim,
                                                         const std::vector<CacheSubject>& subjects) const {
  std::vector<CacheNeighbour> neighbours;
  for (const CacheSubject& other : subjects) {
    const CacheWindow& window = other.window;
    if (!window.is_counted || window.usage < rules_.rule.suspect_usage || is_part_of(victim, other)) continue;
    const Series& others = series_.at(window.subject);
    const double r = std::max(correlation_with(series, others.usage), correlation_with(series, others.llc_misses));
    neighbours.push_back({window.subject, window.usage, r});
  }
  return neighbours;
}

Finding CacheAnalysis::judge(const CacheSubject& subject, const UsualCpi& usual,
                             const std::vector<CacheSubject>& subjects) {
  const CacheWindow& window = subject.window;
  Series& series = series_.at(window.subject);
  const double cpi = cpi_of(window, rules_.rule), limit = cpi_limit(usual, rules_.rule);
  const bool is_too_high = limit > 0 && cpi > limit;
  if (is_too_high) series.too_many |= 1;
  // The correlations are the most expensive part, so they are computed last.
  if (!is_too_high || !has_alarm(series)) return {};
  const bool stands = victims_.contains(window.subject);
  if (!stands && !is_seldom_over(series.cpi, limit)) return {};
  // While a verdict stands, the load is ignored, because it may rise later for a different reason.
  const double load = stands ? 0 : own_load(series, limit);
  return judge_cache(window, usual, load, neighbours_of(series, subject, subjects), rules_.rule);
}

// Does not learn from windows with a standing verdict, because they are unusual.
std::vector<VerdictEvent> CacheAnalysis::add(Time at, const std::vector<CacheSubject>& subjects) {
  std::vector<VerdictEvent> events;
  std::set<Subject> living;
  ++window_;
  for (const CacheSubject& subject : subjects) remember(subject.window);
  for (const CacheSubject& subject : subjects) {
    const CacheWindow& window = subject.window;
    living.insert(window.subject);
    Workload& workload =
        workloads_.try_emplace(subject.workload, Workload{CpiBaseline(rules_.baseline), at}).first->second;
    workload.seen = at;
    auto event = verdicts_.add(at, window.subject, judge(subject, workload.cpi.usual(), subjects));
    if (event && event->change == Change::confirmed) victims_.insert(window.subject);
    if (event && event->change == Change::cleared) victims_.erase(window.subject);
    if (event) events.push_back(std::move(*event));
    if (!victims_.contains(window.subject)) workload.cpi.add(at, cpi_of(window, rules_.rule));
  }
  verdicts_.keep_only(living);
  std::erase_if(victims_, [&](Subject subject) { return !living.contains(subject); });
  std::erase_if(series_, [&](const auto& one) { return !living.contains(one.first); });
  keep_last_seen(workloads_, at - rules_.forget_after);
  return events;
}

std::vector<SavedCpi> CacheAnalysis::save() const {
  std::vector<SavedCpi> all;
  for (const auto& [name, workload] : workloads_)
    if (!workload.cpi.is_empty()) all.push_back(workload.cpi.save(name));
  return all;
}

void CacheAnalysis::restore(const std::vector<SavedCpi>& all, Time now) {
  for (SavedCpi saved : all) {
    saved.seen = std::min(saved.seen, now);
    if (now - saved.seen > rules_.forget_after || workloads_.size() >= kMaxWorkloads) continue;
    const std::string name = saved.workload;
    workloads_.insert_or_assign(name, Workload{CpiBaseline(rules_.baseline, saved), saved.seen});
  }
}

}  // namespace koord::analysis
