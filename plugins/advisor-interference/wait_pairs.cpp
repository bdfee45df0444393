// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/wait_pairs.hpp"

#include <algorithm>
#include <utility>

namespace koord::interference {
namespace {

using analysis::CpuWindow;
using analysis::Suspect;
using analysis::SuspectKind;

std::string pair_kind(SuspectKind kind) {
  if (kind == SuspectKind::kernel) return "kernel";
  return kind == SuspectKind::outside ? "outside" : "container";
}

std::string culprit_name(const Suspect& suspect, const NameOf& name_of) {
  if (suspect.kind == SuspectKind::kernel) return "kernel threads";
  if (suspect.kind == SuspectKind::outside) return "node, outside pods";
  std::string name = name_of(suspect.subject);
  return name.empty() ? "a container that has ended" : name;
}

}  // namespace

std::vector<WaitPair> longest_pairs(const std::vector<analysis::CpuSubject>& subjects, const NameOf& name_of,
                                    std::size_t most) {
  std::vector<WaitPair> pairs;
  for (const analysis::CpuSubject& subject : subjects) {
    const CpuWindow& window = subject.window;
    const auto add = [&](std::string kind, std::string culprit, double waited) {
      if (waited > 0) pairs.push_back({window.subject, std::move(kind), std::move(culprit), waited});
    };
    for (const Suspect& suspect : window.others)
      add(pair_kind(suspect.kind), culprit_name(suspect, name_of), suspect.waited);
    add("self", "its own threads", window.self);
    add("throttled", "its own quota", window.throttled);
    add("unexplained", "unexplained", window.unexplained);
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const WaitPair& a, const WaitPair& b) { return a.waited > b.waited; });
  if (pairs.size() > most) pairs.resize(most);
  return pairs;
}

WaitPairs::WaitPairs(const koord_host* host, std::string resource)
    : host_(host),
      metrics_(plugin::require<koord_svc_metrics>(host, "koord.metrics/1")),
      resource_(std::move(resource)),
      metric_(
          host,
          {.name = "container_waits_for_ratio",
           .unit = "ratio",
           .help =
               "Share of the last second that threads of a container spent in waits of 1 ms and more for a culprit.",
           .resolution = 1e-6,
           .flags = 0}) {}

void WaitPairs::report(const std::vector<analysis::CpuSubject>& subjects, const NameOf& name_of, plugin::Batch& batch) {
  for (auto& entry : series_) ++entry.second.idle;
  std::map<Key, double> waits;
  for (WaitPair& pair : longest_pairs(subjects, name_of, kMostPairs))
    waits[{pair.victim, std::move(pair.kind), std::move(pair.culprit)}] += pair.waited;
  for (const auto& [key, waited] : waits) {
    Series& series = series_[key];
    series.idle = 0;
    if (series.id == 0) series.id = series_of(key);
  }
  end_idle();
  for (const auto& [key, series] : series_) {
    if (series.id == 0) continue;
    const auto waited = waits.find(key);
    batch.add(series.id, waited == waits.end() ? 0 : waited->second);
  }
}

std::uint64_t WaitPairs::series_of(const Key& key) const {
  try {
    return metric_.series(key.victim, {{"resource", resource_}, {"kind", key.kind}, {"culprit", key.culprit}});
  } catch (const plugin::Failure&) {
    return 0;  // the window began before the end
  }
}

void WaitPairs::end_idle() {
  // If there are more pairs than are kept, pairs without a present wait are removed.
  const bool is_full = series_.size() > kMostPairs;
  std::erase_if(series_, [&](const auto& entry) {
    const Series& series = entry.second;
    if (series.idle < (is_full ? 1 : kIdleWindows)) return false;
    if (series.id != 0) metrics_->end_series(host_, series.id);
    return true;
  });
}

}  // namespace koord::interference
