// SPDX-License-Identifier: Apache-2.0
#include "core/manager/batch_grant.hpp"

#include <algorithm>
#include <cmath>

namespace koord::manager {
namespace {

// Older reports within this fraction of the window for grants are merged into one sample. So a node needs the same
// memory, whether it reports every second or every minute.
constexpr int kPartsOfWindow = 10;

using Do = BatchGrant::Decision::Do;

CpuMemory least(const CpuMemory& a, const CpuMemory& b) {
  return {std::min(a.cpu, b.cpu), std::min(a.memory, b.memory)};
}

bool is_less_by(std::int64_t now, std::int64_t before, double threshold) {
  return now < before && (now == 0 || static_cast<double>(before - now) >= threshold * static_cast<double>(before));
}

bool differs_by(std::int64_t now, std::int64_t before, double threshold) {
  return is_less_by(now, before, threshold) ||
         (now > before && static_cast<double>(now - before) > threshold * static_cast<double>(before));
}

std::int64_t part_of(std::int64_t amount, std::uint32_t parts, std::uint32_t of) {
  return amount / of * parts + amount % of * parts / of;
}

}  // namespace

std::string_view name_of(BatchGrant::Freshness freshness) {
  switch (freshness) {
    case BatchGrant::Freshness::unknown:
      return "unknown";
    case BatchGrant::Freshness::fresh:
      return "fresh";
    case BatchGrant::Freshness::stale:
      return "stale";
    case BatchGrant::Freshness::fading:
      return "fading";
    case BatchGrant::Freshness::gone:
      return "gone";
  }
  return "";
}

BatchGrant::Sample BatchGrant::sample_of(Time at, Duration window, const CpuMemory& available) {
  return {at, at, window, static_cast<double>(available.cpu), static_cast<double>(available.memory), 1};
}

void BatchGrant::report(Time now, const std::string& id, bool is_recent, Duration window, const CpuMemory& available,
                        const GrantRules& rules) {
  const bool is_first = !has_report_;
  if (!is_first && id == last_id_) {
    if (!samples_.empty()) samples_.back() = sample_of(samples_.back().at, samples_.back().window, available);
    return;
  }
  has_report_ = true;
  last_id_ = id;
  if (is_first && !is_recent) return;  // the first report may be days old; later reports are new
  is_known_ = true;
  last_report_ = now;
  before_fading_.reset();
  samples_.push_back(sample_of(now, window, available));
  merge_older(now, rules);
  const Duration longest = std::max(rules.aggregate, rules.fast);
  while (samples_.size() > 1 && now - samples_[1].at > longest) samples_.erase(samples_.begin());
}

// Merges adjacent samples that are too old for the withdrawal window.
void BatchGrant::merge_older(Time now, const GrantRules& rules) {
  for (std::size_t i = samples_.size() - 1; i > 0; --i) {
    const Sample& newer = samples_[i];
    Sample& older = samples_[i - 1];
    const bool is_near = newer.at - older.first <= rules.aggregate / kPartsOfWindow;
    if (now - newer.at < rules.fast || newer.window != older.window || !is_near) continue;
    older = {older.first,
             newer.at,
             older.window,
             older.cpu + newer.cpu,
             older.memory + newer.memory,
             older.reports + newer.reports};
    samples_.erase(samples_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Returns the mean of the reports that lie, with their own windows, within the last `over`. Always includes the newest
// report.
CpuMemory BatchGrant::mean(Time now, Duration over) const {
  double cpu = 0, memory = 0, count = 0;
  for (auto sample = samples_.rbegin(); sample != samples_.rend(); ++sample) {
    if (count > 0 && now - sample->at > over - sample->window) break;
    cpu += sample->cpu;
    memory += sample->memory;
    count += sample->reports;
  }
  return {std::llround(cpu / count), std::llround(memory / count)};
}

// Returns whether the samples cover at least half of `over`. An agent that has just started also reports averages from
// half of its window.
bool BatchGrant::covers(Time now, Duration over) const {
  return now - samples_.front().first + samples_.front().window >= over / 2;
}

Time BatchGrant::silent_at(const GrantRules& rules) const {
  return later(last_report_, rules.report * rules.stale_periods);
}

BatchGrant::Freshness BatchGrant::freshness(Time now, const GrantRules& rules) const {
  if (now - last_report_ >= rules.degrade) return Freshness::gone;
  if (now < silent_at(rules)) return is_known_ ? Freshness::fresh : Freshness::unknown;
  return now < later(silent_at(rules), rules.grace) ? Freshness::stale : Freshness::fading;
}

BatchGrant::Decision BatchGrant::fade(Time now, const std::optional<CpuMemory>& published, const GrantRules& rules) {
  if (!published) return {};
  if (!before_fading_) before_fading_ = published;
  const auto passed =
      (now - silent_at(rules) - rules.grace) / std::max<Duration>(rules.report, std::chrono::seconds(1));
  const std::uint32_t steps = std::max<std::uint32_t>(rules.steps, 1);
  const auto taken = static_cast<std::uint32_t>(std::min<std::int64_t>(passed + 1, steps));
  const CpuMemory rest{part_of(before_fading_->cpu, steps - taken, steps),
                       part_of(before_fading_->memory, steps - taken, steps)};
  const CpuMemory lowered = least(rest, *published);
  return lowered == *published ? Decision{} : Decision{Do::publish, lowered};
}

BatchGrant::Decision BatchGrant::decide(Time now, const std::optional<CpuMemory>& published, const GrantRules& rules) {
  const Freshness state = freshness(now, rules);
  if (state == Freshness::gone) return published ? Decision{Do::remove, {}} : Decision{};
  if (state == Freshness::fading) return fade(now, published, rules);
  if (state != Freshness::fresh || samples_.empty()) return {};
  const CpuMemory fast = mean(now, rules.fast);
  const CpuMemory slow = covers(now, rules.aggregate) ? least(mean(now, rules.aggregate), fast) : fast;
  if (!published) return covers(now, rules.aggregate) ? Decision{Do::publish, slow} : Decision{};
  CpuMemory wanted = *published;
  const auto withdraw = [&](std::int64_t CpuMemory::*of) {
    if (is_less_by(fast.*of, (*published).*of, rules.withdraw_threshold)) wanted.*of = fast.*of;
  };
  const bool is_due = !last_written_ || now - *last_written_ >= rules.write_period;
  const bool is_held = last_withdrawn_ && now - *last_withdrawn_ < rules.hold;
  const auto grant = [&](std::int64_t CpuMemory::*of) {
    if (!is_held && covers(now, rules.aggregate) &&
        (is_due || differs_by(slow.*of, (*published).*of, rules.grant_threshold)))
      wanted.*of = slow.*of;
  };
  for (auto of : {&CpuMemory::cpu, &CpuMemory::memory}) {
    grant(of);
    if (wanted.*of >= (*published).*of) withdraw(of);
  }
  return wanted == *published ? Decision{} : Decision{Do::publish, wanted};
}

void BatchGrant::written(Time now, bool withdrew) {
  last_written_ = now;
  if (withdrew) last_withdrawn_ = now;
}

}  // namespace koord::manager
