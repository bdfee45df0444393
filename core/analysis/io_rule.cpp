// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/io_rule.hpp"

#include <algorithm>

namespace koord::analysis {
namespace {

double excess_of(const IoPart& part, double quiet) { return std::max(0.0, part.seconds - part.requests * quiet); }

double excess_of_others(const IoStream& stream, double quiet) {
  double sum = 0;
  for (const IoPart& part : stream.others) sum += excess_of(part, quiet);
  return sum;
}

double limit_over(double quiet, const IoRule& rule) { return std::max(rule.over_quiet * quiet, quiet + rule.excess); }

// Returns the statistic of the harm. The part of the mean that others cause must be too long by itself. The p99 cannot
// be divided, so others must cause most of the excess.
Statistic harm_in(const IoStream& stream, const QuietLatency& quiet, const IoRule& rule) {
  if (quiet.mean <= 0 || stream.requests < rule.requests_for_mean) return {};
  const double others = excess_of_others(stream, quiet.mean);
  const double limit = limit_over(quiet.mean, rule);
  if (stream.mean >= limit && quiet.mean + others / stream.requests >= limit)
    return {stream.is_write ? "write_latency" : "read_latency", stream.mean, quiet.mean, limit};
  const double p99_limit = limit_over(quiet.p99, rule);
  const double rest = excess_of(stream.own, quiet.mean) + excess_of(stream.unexplained, quiet.mean);
  if (quiet.p99 > 0 && stream.requests >= rule.requests_for_p99 && stream.p99 >= p99_limit && others > rest)
    return {stream.is_write ? "write_latency_p99" : "read_latency_p99", stream.p99, quiet.p99, p99_limit};
  return {};
}

std::size_t worst_of(const IoWindow& window, const std::vector<QuietLatency>& quiet, const IoRule& rule) {
  std::size_t worst = window.streams.size();
  double most = 0;
  for (std::size_t i = 0; i < window.streams.size(); ++i) {
    const double excess = excess_of_others(window.streams[i], quiet[i].mean);
    if (excess <= most || harm_in(window.streams[i], quiet[i], rule).name.empty()) continue;
    most = excess;
    worst = i;
  }
  return worst;
}

}  // namespace

const IoStream* worst_stream(const IoWindow& window, const std::vector<QuietLatency>& quiet, const IoRule& rule) {
  const std::size_t worst = worst_of(window, quiet, rule);
  return worst < window.streams.size() ? &window.streams[worst] : nullptr;
}

Finding judge_io(const IoWindow& window, const std::vector<QuietLatency>& quiet, const IoRule& rule) {
  Finding finding;
  if (window.limit_used >= rule.limit_used) {
    finding.kind = Kind::self_quota;
    finding.statistic = {"io_limit_used", window.limit_used, 0, rule.limit_used};
    return finding;
  }
  const std::size_t worst = worst_of(window, quiet, rule);
  if (worst == window.streams.size()) return finding;
  const IoStream& stream = window.streams[worst];
  finding.kind = Kind::interfered;
  finding.statistic = harm_in(stream, quiet[worst], rule);
  if (!quiet[worst].is_own) finding.method = Method::estimated;
  for (const IoPart& part : stream.others) {
    const double excess = excess_of(part, quiet[worst].mean);
    if (excess > 0) finding.suspects.push_back({part.kind, part.subject, excess, part.usage});
  }
  sort_by_wait(finding.suspects);
  finding.self = excess_of(stream.own, quiet[worst].mean);
  finding.unexplained = excess_of(stream.unexplained, quiet[worst].mean);
  return finding;
}

}  // namespace koord::analysis
