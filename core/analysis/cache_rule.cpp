// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/cache_rule.hpp"

#include <algorithm>

namespace koord::analysis {

double cpi_of(const CacheWindow& window, const CacheRule& rule) {
  const bool is_known = window.is_counted && window.usage >= rule.victim_usage && window.instructions > 0;
  return is_known ? window.cycles / window.instructions : 0;
}

double cpi_limit(const UsualCpi& usual, const CacheRule& rule) {
  if (usual.mean <= 0) return 0;
  return std::max(usual.mean + rule.deviations * usual.deviation, (1 + rule.slow_down) * usual.mean);
}

Finding judge_cache(const CacheWindow& window, const UsualCpi& usual, double own_load,
                    const std::vector<CacheNeighbour>& neighbours, const CacheRule& rule) {
  Finding finding;
  finding.method = Method::suspected;
  const double cpi = cpi_of(window, rule), limit = cpi_limit(usual, rule);
  finding.statistic = {"cycles_per_instruction", cpi, usual.mean, limit};
  if (limit <= 0 || cpi <= limit || own_load >= rule.own_load) return finding;
  double explained = 0;
  for (const CacheNeighbour& neighbour : neighbours) {
    const double r = neighbour.correlation;
    if (r < rule.correlation || neighbour.usage < rule.suspect_usage) continue;
    finding.suspects.push_back({SuspectKind::container, neighbour.subject, r * r, neighbour.usage});
    explained += r * r;
  }
  if (finding.suspects.empty()) return finding;
  finding.kind = Kind::interfered;
  sort_by_wait(finding.suspects);
  const double lost = window.usage * (1 - usual.mean / cpi);
  for (Suspect& suspect : finding.suspects) suspect.waited *= lost / std::max(1.0, explained);
  finding.unexplained = lost * std::max(0.0, 1 - explained);
  return finding;
}

}  // namespace koord::analysis
