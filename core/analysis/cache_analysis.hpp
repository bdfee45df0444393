// SPDX-License-Identifier: Apache-2.0
// CacheAnalysis: the verdicts about caches and memory bandwidth for all containers of a node, from their windows. It
// stores the usual CPI of each workload (shared by its containers), the last windows of each container for the
// correlation, and the standing verdict of each container. Pure. [one thread at a time]
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/analysis/cpi_baseline.hpp"
#include "core/analysis/last_seen.hpp"
#include "core/analysis/verdicts.hpp"

namespace koord::analysis {

// A container in a window.
struct CacheSubject {
  std::string workload;  // owner and container name; the same for all containers of a workload
  CacheWindow window;
  std::string cgroup = {};  // containers in nested cgroups are not suspects for each other
};

struct CacheRules {
  CacheRule rule;
  CpiBaselineRule baseline;
  Duration clear = std::chrono::seconds(30);       // a verdict ends after this time without a finding
  Duration forget_after = std::chrono::hours(24);  // a workload is forgotten this long after its last container ended
};

class CacheAnalysis {
 public:
  static constexpr Duration kWindow = std::chrono::seconds(5);
  static constexpr std::size_t kWindows = 240;        // windows for the correlation: 20 minutes …
  static constexpr std::size_t kFewestWindows = 120;  // … at least half of them must be known
  // Suspects are searched only while at most this part of the windows has too many cycles. With a larger part, a
  // neighbour with a slow periodic load correlates by accident: at its peak, r may be 0.5 for a part of 10 %, and 0.7
  // for 25 %.
  static constexpr double kFewOver = 0.08;

  explicit CacheAnalysis(CacheRules rules = {}) : rules_(rules), verdicts_({1, 1, rules.clear}) {}

  // Adds the windows of all existing containers, which ended at this time. A missing container has ended.
  std::vector<VerdictEvent> add(Time at, const std::vector<CacheSubject>& subjects);

  std::vector<Verdict> standing() const { return verdicts_.standing(); }

  // Returns the usual CPI of all workloads, to save it for restarts.
  std::vector<SavedCpi> save() const;
  // Restores saved workloads. Call it before the first windows. Ignores workloads that were not seen for too long.
  void restore(const std::vector<SavedCpi>& all, Time now);

 private:
  struct Workload {
    CpiBaseline cpi;
    Time seen{};
  };

  // The last windows of a container; window n is at index n modulo kWindows. NaN: unknown. Empty until the container is
  // counted for the first time.
  struct Series {
    std::vector<float> cpi = {}, usage = {}, llc_misses = {}, instructions = {};
    std::size_t since = 0;       // the window in which the container was listed first
    std::uint64_t too_many = 0;  // one bit for each of the last windows, the newest is the lowest: CPI is too high
  };

  void remember(const CacheWindow& window);
  bool has_alarm(const Series& series) const;
  double own_load(const Series& series, double limit) const;
  double correlation_with(const Series& victim, const std::vector<float>& values) const;
  std::vector<CacheNeighbour> neighbours_of(const Series& series, const CacheSubject& victim,
                                            const std::vector<CacheSubject>& subjects) const;
  Finding judge(const CacheSubject& subject, const UsualCpi& usual, const std::vector<CacheSubject>& subjects);

  CacheRules rules_;
  std::size_t window_ = 0;  // number of the current window
  std::map<std::string, Workload> workloads_;
  std::map<Subject, Series> series_;
  std::set<Subject> victims_;  // the victims of standing verdicts
  Verdicts verdicts_;
};

}  // namespace koord::analysis
