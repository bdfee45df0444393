// SPDX-License-Identifier: Apache-2.0
// keep_last_seen() limits the number of workloads that an analysis stores, because their names come from the cluster.
// [one thread at a time]
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "core/base/clock.hpp"

namespace koord::analysis {

inline constexpr std::size_t kMaxWorkloads = 4000;

// Removes values that were `seen` before this time. Keeps at most `most` of the other values: the most recently seen
// ones. Among values with the same time the first keys are kept, so that each window keeps the same values.
template <class Key, class Value>
void keep_last_seen(std::map<Key, Value>& values, Time since, std::size_t most = kMaxWorkloads) {
  std::erase_if(values, [since](const auto& one) { return one.second.seen < since; });
  if (values.size() <= most) return;
  std::vector<Time> times;
  for (const auto& one : values) times.push_back(one.second.seen);
  const auto oldest = times.begin() + static_cast<std::ptrdiff_t>(most - 1);
  std::nth_element(times.begin(), oldest, times.end(), std::greater<>());
  const Time last = *oldest;
  std::size_t places = most;
  for (const Time& time : times)
    if (time > last) --places;
  std::erase_if(values, [last, &places](const auto& one) {
    if (one.second.seen != last) return one.second.seen < last;
    if (places == 0) return true;
    --places;
    return false;
  });
}

}  // namespace koord::analysis
