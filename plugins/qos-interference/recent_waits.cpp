// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-interference/recent_waits.hpp"

#include <algorithm>
#include <set>

namespace koord::mitigation {
namespace {

// Returns all waits of the victim, in the unit of the suspects. The suspect with the largest share is used, because its
// result is the most exact.
double all_waits(const Verdict& verdict) {
  const auto largest =
      std::max_element(verdict.suspects.begin(), verdict.suspects.end(),
                       [](const Suspect& one, const Suspect& other) { return one.share < other.share; });
  return largest != verdict.suspects.end() && largest->share > 0 ? largest->waited / largest->share : 0;
}

}  // namespace

Sums sums_of(const Verdict& verdict, const Suspect& suspect) {
  return {verdict.id, verdict.windows, suspect.waited * verdict.windows, all_waits(verdict) * verdict.windows};
}

std::optional<double> share_between(const Sums& before, const Sums& now) {
  if (now.verdict != before.verdict || now.windows <= before.windows) return std::nullopt;
  const double all = now.all - before.all;
  return all > 0 ? std::clamp((now.waited - before.waited) / all, 0.0, 1.0) : 0;
}

void RecentWaits::follow(const std::vector<Verdict>& verdicts, std::uint64_t now_ns, std::uint64_t span_ns) {
  std::set<std::uint64_t> standing;
  for (const Verdict& verdict : verdicts) {
    standing.insert(verdict.id);
    for (const Suspect& suspect : verdict.suspects) {
      const Sums sums = sums_of(verdict, suspect);
      const auto [known, is_new] = tracks_.try_emplace({verdict.id, suspect.pod});
      Track& track = known->second;
      if (is_new || sums.windows < track.newer.windows) track = {{verdict.id, 0, 0, 0}, sums, now_ns, suspect.share};
      if (now_ns - track.newer_ns >= span_ns / 2) {
        track.older = track.newer;
        track.newer = sums;
        track.newer_ns = now_ns;
      }
      track.share = share_between(track.older, sums).value_or(track.share);
    }
  }
  std::erase_if(tracks_, [&](const auto& track) { return !standing.contains(track.first.first); });
}

double RecentWaits::share(const Verdict& verdict, const Suspect& suspect) const {
  const auto known = tracks_.find({verdict.id, suspect.pod});
  return verdict.windows == 0 || known == tracks_.end() ? suspect.share : known->second.share;
}

}  // namespace koord::mitigation
