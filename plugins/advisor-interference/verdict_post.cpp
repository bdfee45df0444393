// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/verdict_post.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

namespace koord::interference {
namespace {

constexpr std::size_t kMostSuspects = 32;  // limit of the host

constexpr std::pair<std::string_view, std::uint32_t> kKinds[] = {
    {"interfered", KOORD_VERDICT_INTERFERED},
    {"self-quota", KOORD_VERDICT_SELF_QUOTA},
    {"self-threads", KOORD_VERDICT_SELF_THREADS},
    {"shared-parent", KOORD_VERDICT_SHARED_PARENT},
    {"self-memory-limit", KOORD_VERDICT_SELF_MEMORY_LIMIT}};
constexpr std::pair<std::string_view, std::uint32_t> kMethods[] = {{"exact", KOORD_METHOD_EXACT},
                                                                   {"estimated", KOORD_METHOD_ESTIMATED}};
constexpr std::pair<std::string_view, std::uint32_t> kResources[] = {{"cpu", KOORD_RESOURCE_CPU},
                                                                     {"blkio", KOORD_RESOURCE_BLKIO},
                                                                     {"memory", KOORD_RESOURCE_MEMORY},
                                                                     {"cache", KOORD_RESOURCE_CACHE}};

template <std::size_t n>
std::uint32_t number_of(const std::pair<std::string_view, std::uint32_t> (&names)[n], std::string_view name,
                        std::uint32_t otherwise) {
  const auto* const found =
      std::find_if(std::begin(names), std::end(names), [&](const auto& known) { return known.first == name; });
  return found == std::end(names) ? otherwise : found->second;
}

std::uint32_t kind_of(analysis::SuspectKind kind) {
  if (kind == analysis::SuspectKind::container) return KOORD_SUSPECT_SUBJECT;
  return kind == analysis::SuspectKind::kernel ? KOORD_SUSPECT_KERNEL : KOORD_SUSPECT_OUTSIDE;
}

plugin::Suspect posted_suspect(const analysis::Suspect& suspect, double all_waits) {
  plugin::Suspect posted;
  posted.kind = kind_of(suspect.kind);
  posted.subject = suspect.subject;
  posted.value = suspect.waited;
  if (suspect.quiet > 0) posted.excess = suspect.waited - suspect.quiet;
  if (all_waits > 0) posted.share = std::min(1.0, suspect.waited / all_waits);
  posted.usage = suspect.usage;
  return posted;
}

}  // namespace

plugin::Verdict posted_verdict(const analysis::Verdict& verdict, Duration window, const Units& units) {
  plugin::Verdict posted;
  posted.victim = verdict.victim;
  posted.kind = number_of(kKinds, name_of(verdict.kind), KOORD_VERDICT_UNKNOWN);
  posted.resource = units.resource;
  posted.method = number_of(kMethods, name_of(verdict.method), KOORD_METHOD_SUSPECTED);
  posted.from_ns = to_ns(verdict.from - window);
  posted.to_ns = to_ns(verdict.to);
  posted.windows_over = static_cast<std::uint32_t>(verdict.windows_over);
  posted.windows_seen = static_cast<std::uint32_t>(std::max(verdict.windows_seen, verdict.windows_over));
  posted.statistic = verdict.statistic.name;
  posted.statistic_unit = units.statistic;
  posted.value = verdict.statistic.value;
  if (verdict.statistic.baseline > 0) posted.baseline = verdict.statistic.baseline;  // 0: not known yet
  posted.threshold = verdict.statistic.threshold;
  posted.amount_unit = units.amounts;
  posted.own = verdict.self;
  posted.throttled = verdict.throttled;
  posted.unexplained = verdict.unexplained;
  const double all_waits =
      std::accumulate(verdict.suspects.begin(), verdict.suspects.end(), verdict.self + verdict.unexplained,
                      [](double sum, const analysis::Suspect& suspect) { return sum + suspect.waited; });
  const std::size_t n = std::min(verdict.suspects.size(), kMostSuspects);
  for (std::size_t i = 0; i < n; ++i) posted.suspects.push_back(posted_suspect(verdict.suspects[i], all_waits));
  return posted;
}

void VerdictPost::update(const std::vector<analysis::Verdict>& standing, const Details& details) {
  std::set<Key> keys;
  std::vector<plugin::Verdict> verdicts;
  for (const analysis::Verdict& verdict : standing) {
    verdicts.push_back(posted_verdict(verdict, window_, units_));
    keys.emplace(verdicts.back().victim, verdicts.back().resource, verdicts.back().kind);
  }
  for (const auto& [victim, resource, kind] : posted_)
    if (keys.count({victim, resource, kind}) == 0) verdicts_.end(victim, resource, kind, "no finding any more");
  if (keys == posted_ && ++windows_ < kRepeat) return;
  windows_ = 0;
  posted_ = std::move(keys);
  for (plugin::Verdict& verdict : verdicts) add_details(verdict, details);
  if (verdicts.empty() || post(verdicts)) return;
  for (const plugin::Verdict& verdict : verdicts) post({verdict});
}

void VerdictPost::add_details(plugin::Verdict& verdict, const Details& details) const {
  verdict.note = details.note;
  if (details.request)
    for (plugin::Suspect& suspect : verdict.suspects)
      if (suspect.kind == KOORD_SUSPECT_SUBJECT) suspect.request = details.request(suspect.subject);
  if (!details.looked_at) return;
  verdict.others = details.looked_at(verdict.victim);
  std::erase_if(verdict.others,
                [this](const auto& other) { return number_of(kResources, other.first, 0) == units_.resource; });
}

// Returns false if one of the victims has ended, because in that case the host refuses all verdicts.
bool VerdictPost::post(const std::vector<plugin::Verdict>& verdicts) const {
  try {
    verdicts_.post(verdicts);
    return true;
  } catch (const plugin::Failure& failure) {
    if (failure.status() != KOORD_E_GONE) throw;
    return false;
  }
}

}  // namespace koord::interference
