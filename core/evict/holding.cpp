// SPDX-License-Identifier: Apache-2.0
#include "core/evict/holding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/metric/find_label.hpp"

namespace koord::evict {
namespace {

constexpr Duration kFresh = std::chrono::minutes(1);

// Returns the value without its fraction. A value that does not fit counts as not measured.
std::optional<std::int64_t> whole(double value) {
  constexpr double kMost = 9.0e18;
  if (std::isnan(value) || value < 0 || value > kMost) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

template <class Set>
void read(const store::Store& cache, const std::string& metric, Time now, Set set) {
  constexpr store::Aggregation kLast[] = {store::Aggregation::last};
  std::map<std::string, Time> newest;  // a pod may have several series, as other labels may have changed
  for (const store::AggregateRow& row : cache.aggregate({metric, {}, now - kFresh, now}, kLast)) {
    const std::string* uid = metric::find_label(row.labels, "pod_uid");
    if (!uid) continue;
    auto [at, first] = newest.try_emplace(*uid, row.to);
    if (!first && row.to <= at->second) continue;
    at->second = row.to;
    set(*uid, row.values.front());
  }
}

}  // namespace

UsageByPod read_usage(const store::Store& cache, Time now) {
  UsageByPod usage;
  read(cache, "pod_cpu_usage", now,
       [&](const std::string& uid, double cores) { usage[uid].cpu_milli = whole(cores * 1000); });
  read(cache, "pod_memory_usage", now,
       [&](const std::string& uid, double bytes) { usage[uid].memory_bytes = whole(bytes); });
  return usage;
}

std::int64_t Holding::of(const Release& release) const {
  if (release.used) return (release.resource == "cpu" ? usage.cpu_milli : usage.memory_bytes).value_or(0);
  auto found = std::find_if(resources.begin(), resources.end(),
                            [&](const auto& resource) { return resource.name == release.resource; });
  return found == resources.end() ? 0 : std::max<std::int64_t>(found->request, 0);
}

}  // namespace koord::evict
