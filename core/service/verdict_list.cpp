// SPDX-License-Identifier: Apache-2.0
#include "core/service/verdict_list.hpp"

#include <utility>

#include "core/service/arguments.hpp"
#include "core/service/status.hpp"

namespace koord::service {
namespace {

koord_suspect suspect_record(const verdict::Suspect& suspect) {
  return {.struct_size = sizeof(koord_suspect),
          .kind = static_cast<std::uint32_t>(suspect.kind),
          .subject = suspect.subject.handle,
          .name = to_abi(suspect.name),
          .value = suspect.value,
          .share = suspect.share,
          .excess = suspect.excess,
          .usage = suspect.usage,
          .request = suspect.request};
}

koord_verdict standing_record(const verdict::Record& record, std::vector<koord_suspect>& suspects,
                              std::vector<koord_label>& others) {
  koord_verdict standing = posted_record(record, suspects, others);
  standing.id = record.id;
  standing.since_ns = to_ns(record.since);
  standing.plugin = to_abi(record.plugin);
  standing.victim_name = to_abi(record.victim_name);
  standing.origin = static_cast<std::uint32_t>(record.origin);
  return standing;
}

}  // namespace

koord_verdict posted_record(const verdict::Record& record, std::vector<koord_suspect>& suspects,
                            std::vector<koord_label>& others) {
  for (const verdict::Suspect& suspect : record.suspects) suspects.push_back(suspect_record(suspect));
  for (const auto& [resource, finding] : record.others) others.push_back({to_abi(resource), to_abi(finding)});
  koord_verdict posted = {};
  posted.struct_size = sizeof posted;
  posted.kind = static_cast<std::uint32_t>(record.kind);
  posted.resource = static_cast<std::uint32_t>(record.resource);
  posted.method = static_cast<std::uint32_t>(record.method);
  posted.victim = record.victim.handle;
  posted.from_ns = to_ns(record.from);
  posted.to_ns = to_ns(record.to);
  posted.windows_over = record.windows_over;
  posted.windows_seen = record.windows_seen;
  posted.statistic = to_abi(record.statistic.name);
  posted.statistic_unit = to_abi(record.statistic.unit);
  posted.value = record.statistic.value;
  posted.baseline = record.statistic.baseline;
  posted.threshold = record.statistic.threshold;
  posted.amount_unit = to_abi(record.amount_unit);
  posted.own = record.own;
  posted.throttled = record.throttled;
  posted.unexplained = record.unexplained;
  posted.suspects = suspects.data();
  posted.n_suspects = static_cast<std::uint32_t>(suspects.size());
  posted.suspect_stride = sizeof(koord_suspect);
  posted.others = others.data();
  posted.n_others = static_cast<std::uint32_t>(others.size());
  posted.other_stride = sizeof(koord_label);
  posted.note = to_abi(record.note);
  posted.ttl_ns = static_cast<std::uint64_t>(record.ttl.count());
  return posted;
}

VerdictList::VerdictList(std::shared_ptr<const verdict::CurrentVerdicts> standing) : standing_(std::move(standing)) {
  const std::size_t n = standing_->records.size();
  suspects_.resize(n);
  others_.resize(n);
  verdicts_.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    verdicts_.push_back(standing_record(*standing_->records[i], suspects_[i], others_[i]));
}

VerdictListPtr VerdictLists::of(std::shared_ptr<const verdict::CurrentVerdicts> standing) {
  std::lock_guard lock(mutex_);
  if (!newest_ || newest_->standing() != standing) newest_ = std::make_shared<const VerdictList>(std::move(standing));
  return newest_;
}

Result<void> check_held_lists(const PluginVerdictLists& lists) {
  if (lists.held() < kMostVerdictLists) return {};
  return refuse(KOORD_E_AGAIN,
                "it holds " + std::to_string(kMostVerdictLists) + " lists of verdicts, expected it to release one");
}

const koord_verdict* verdicts_of_list(const koord_verdict_list* list, std::uint32_t* n, std::uint32_t* stride) {
  const std::span<const koord_verdict> verdicts =
      list ? PluginVerdictLists::view_of(list).verdicts() : std::span<const koord_verdict>();
  if (n) *n = static_cast<std::uint32_t>(verdicts.size());
  if (stride) *stride = sizeof(koord_verdict);
  return verdicts.empty() ? nullptr : verdicts.data();
}

std::uint64_t generation_of_list(const koord_verdict_list* list) {
  return list ? PluginVerdictLists::view_of(list).standing()->generation : 0;
}

}  // namespace koord::service
