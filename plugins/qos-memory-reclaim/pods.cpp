// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-memory-reclaim/pods.hpp"

#include <algorithm>
#include <cstdio>

#include "core/base/page_size.hpp"
#include "core/base/parse.hpp"

namespace koord::memory_reclaim {
namespace {

constexpr std::uint64_t kColdWindow = 300'000'000'000;  // ns; maximum age of measured cold memory
constexpr std::string_view kStatKeys[] = {"inactive_file", "active_file", "workingset_refault_file"};

std::string two_digits(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

strategy::Intent intent_of(const std::string& dir, std::int64_t bytes, const Reclaimer& reclaimer,
                           const Reading& reading, const Settings& settings) {
  strategy::Intent intent{KOORD_LEVEL_POD,
                          "memory.reclaim",
                          dir,
                          std::to_string(bytes),
                          "a little of its page cache: its tasks stalled " + two_digits(reclaimer.stalled_percent()) +
                              " % of the time for lack of memory, less than " + two_digits(settings.pressure_percent) +
                              " %",
                          {{"page_cache", std::to_string(*reading.page_cache)},
                           {"stalled_percent", two_digits(reclaimer.stalled_percent())},
                           {"refaulted", std::to_string(reclaimer.refaulted())},
                           {"rate_percent", two_digits(100 * reclaimer.rate())}}};
  if (reading.cold) intent.inputs.emplace_back("cold", std::to_string(*reading.cold));
  return intent;
}

}  // namespace

void Pods::follow(const plugin::Snapshot& snapshot) {
  std::map<std::string, Pod, std::less<>> next;
  for (const koord_pod& pod : snapshot.pods()) {
    const std::string dir(plugin::view(pod.cgroup_dir));
    if (pod.qos != KOORD_QOS_BE || pod.phase != KOORD_PHASE_RUNNING || dir.empty()) continue;
    auto known = pods_.extract(dir);
    if (known && known.mapped().handle == pod.handle)
      next.insert(std::move(known));
    else
      next.try_emplace(dir, Pod{pod.handle});
  }
  pods_ = std::move(next);
}

strategy::Intents Pods::intents(std::uint64_t now_ns, const Settings& settings) {
  const std::map<std::uint64_t, std::int64_t> cold = cold_by_pod(now_ns);
  std::vector<Claim> claims;
  for (auto& [dir, pod] : pods_) {
    read(pod, dir);
    if (const auto known = cold.find(pod.handle); known != cold.end()) pod.reading.cold = known->second;
    const std::int64_t want = pod.reclaimer.want(pod.reading, std::chrono::nanoseconds(now_ns), settings);
    claims.push_back({want, pod.reading.cold, pod.reading.page_cache.value_or(0)});
  }
  const std::vector<std::int64_t> shares = shares_of(claims);
  strategy::Intents intents;
  for (std::size_t i = 0; auto& [dir, pod] : pods_) {
    const std::int64_t share = shares[i++];
    pod.reclaimer.asked(share);
    if (share > 0) intents.push_back(intent_of(dir, share, pod.reclaimer, pod.reading, settings));
  }
  return intents;
}

void Pods::learn(const koord_intent_result& result) {
  const auto pod = pods_.find(plugin::view(result.cgroup_dir));
  if (pod == pods_.end()) return;
  std::optional<std::int64_t> given;
  if (result.status == KOORD_OK)
    if (const auto bytes = parse_int(plugin::view(result.final_value))) given = *bytes;
  pod->second.reclaimer.given(given);
}

bool Pods::blind() const {
  return any() && std::none_of(pods_.begin(), pods_.end(),
                               [](const auto& pod) { return pod.second.reading.stalled_us.has_value(); });
}

void Pods::read(Pod& pod, const std::string& dir) const {
  pod.reading = {};
  if (!pod.stat) (void)pod.stat.open(host_, cgroup_, dir, "memory.stat", kStatKeys, std::size(kStatKeys));
  if (!pod.pressure) (void)pod.pressure.open(host_, cgroup_, dir, "memory.pressure", {"some_total_us"});
  std::int64_t stat[std::size(kStatKeys)], stalled[1];
  const koord_status of_stat = pod.stat ? pod.stat.read(stat) : KOORD_E_GONE;
  const koord_status of_pressure = pod.pressure ? pod.pressure.read(stalled) : KOORD_E_GONE;
  if (of_stat == KOORD_E_GONE) pod.stat = {};
  if (of_pressure == KOORD_E_GONE) pod.pressure = {};
  if (of_stat == KOORD_OK && stat[0] != KOORD_ABSENT && stat[1] != KOORD_ABSENT)
    pod.reading.page_cache = stat[0] + stat[1];
  if (of_stat == KOORD_OK && stat[2] != KOORD_ABSENT) pod.reading.refaulted = stat[2] * page_size();
  if (of_pressure == KOORD_OK && stalled[0] != KOORD_ABSENT) pod.reading.stalled_us = stalled[0];
}

// Returns cold memory by handle. Empty while it is not measured.
std::map<std::uint64_t, std::int64_t> Pods::cold_by_pod(std::uint64_t now_ns) const {
  std::map<std::uint64_t, std::int64_t> cold;
  if (!metrics_) return cold;
  koord_query query{};
  query.struct_size = sizeof query;
  query.aggregation = KOORD_AGG_LAST;
  query.metric = plugin::str("pod_memory_cold_page_size");
  query.from_ns = now_ns > kColdWindow ? now_ns - kColdWindow : 0;
  std::vector<koord_agg_row> rows(64);
  koord_status status = KOORD_E_TOO_SMALL;
  while (status == KOORD_E_TOO_SMALL) {
    std::uint32_t found = 0;
    status = metrics_->aggregate(host_, &query, rows.data(), static_cast<std::uint32_t>(rows.size()),
                                 sizeof(koord_agg_row), &found);
    rows.resize(found);
  }
  if (status != KOORD_OK) return cold;
  for (const koord_agg_row& row : rows)
    if (row.series != 0) cold[row.subject] = static_cast<std::int64_t>(row.value);
  return cold;
}

}  // namespace koord::memory_reclaim
