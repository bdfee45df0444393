// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-memory-latency/memory_latency.hpp"

#include <algorithm>

namespace koord::memory_latency {

using latency::Histogram;

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::memcg_reclaim:
      return "memcg_reclaim";
    case Kind::direct_reclaim:
      return "direct_reclaim";
    case Kind::compaction:
      return "compaction";
  }
  return "unknown";
}

Histogram Stalls::all() const {
  Histogram sum;
  for (const Histogram& histogram : by_kind) sum += histogram;
  return sum;
}

bool Stalls::empty() const {
  return std::all_of(by_kind.begin(), by_kind.end(), [](const Histogram& histogram) { return histogram.empty(); });
}

Stalls& Stalls::operator+=(const Stalls& other) {
  for (Kind kind : kKinds) of(kind) += other.of(kind);
  return *this;
}

Stalls added(const Stalls& before, const Stalls& now) {
  Stalls difference;
  for (Kind kind : kKinds) difference.of(kind) = latency::added(before.of(kind), now.of(kind));
  return difference;
}

}  // namespace koord::memory_latency
