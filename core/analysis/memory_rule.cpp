// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/memory_rule.hpp"

#include <algorithm>

namespace koord::analysis {
namespace {

// Returns a sharer's part in the shortage, which is large if it needs memory and has much of it. A large sharer that
// needs no memory, and a small one that needs little, are not at fault.
double demand_of(const MemorySharer& sharer) { return sharer.reclaimed * sharer.share; }

// Estimates the pressure by a sharer if only kswapd reclaims. In that case no thread of a container frees pages, so
// this is a guess.
double pressure_of(const MemorySharer& sharer) {
  constexpr double kPage = 4096;
  return (std::max(0.0, sharer.growth) / kPage + sharer.refaults) * sharer.share;
}

struct Ranking {
  std::vector<Suspect> others;
  double own = 0;  // the container's own part of the refault time
};

Ranking rank(const MemoryWindow& window, double (*score)(const MemorySharer&)) {
  double all = 0;
  for (const MemorySharer& sharer : window.sharers) all += score(sharer);
  Ranking ranking;
  if (all <= 0) return ranking;
  for (const MemorySharer& sharer : window.sharers) {
    const double part = refault_time_of(window) * score(sharer) / all;
    if (part <= 0) continue;
    if (sharer.kind == SuspectKind::container && sharer.subject == window.subject)
      ranking.own = part;
    else
      ranking.others.push_back({sharer.kind, sharer.subject, part, sharer.usage});
  }
  sort_by_wait(ranking.others);
  return ranking;
}

bool threads_freed_pages(const MemoryWindow& window) {
  return std::any_of(window.sharers.begin(), window.sharers.end(),
                     [](const MemorySharer& sharer) { return sharer.reclaimed > 0; });
}

void judge_sharers(Finding& finding, const MemoryWindow& window) {
  const bool is_counted = threads_freed_pages(window);
  Ranking ranking = rank(window, is_counted ? demand_of : pressure_of);
  finding.self = ranking.own;
  finding.suspects = std::move(ranking.others);
  finding.method = is_counted ? Method::estimated : Method::suspected;
  const bool is_by_others = !finding.suspects.empty() && finding.suspects.front().waited > finding.self;
  if (is_by_others)
    finding.kind = window.limit == MemoryLimit::ancestor ? Kind::shared_parent : Kind::interfered;
  else if (finding.self > 0 && window.limit == MemoryLimit::ancestor)
    finding.kind = Kind::self_memory_limit;
}

}  // namespace

Finding judge_memory(const MemoryWindow& window, double quiet, const MemoryRule& rule) {
  Finding finding;
  const double time = refault_time_of(window);
  const double threshold = std::max(rule.refault_time, rule.over_quiet * quiet);
  finding.statistic = {"refault_time", time, quiet, threshold};
  if (time < threshold) return finding;
  switch (window.limit) {
    case MemoryLimit::none:
      break;
    case MemoryLimit::own:
      finding.kind = Kind::self_memory_limit;
      finding.self = time;
      break;
    case MemoryLimit::ancestor:
    case MemoryLimit::node:
      judge_sharers(finding, window);
      break;
  }
  return finding;
}

}  // namespace koord::analysis
