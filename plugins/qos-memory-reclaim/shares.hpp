// SPDX-License-Identifier: Apache-2.0
// Splits a round's budget between the pods' page caches: reclaiming blocks the strand that decides on knobs, so a round
// has an end. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace koord::memory_reclaim {

inline constexpr std::int64_t kBudget = 128 << 20;  // bytes a round, of all pods together

struct Claim {
  std::int64_t want = 0;             // bytes
  std::optional<std::int64_t> cold;  // known to be cold
  std::int64_t page_cache = 0;
};

// In the order of the claims. Those with cold memory come first, the most of it before the others, then those with the
// most page cache; each has what it wants, until nothing is left. Less than 1 MiB is nothing.
std::vector<std::int64_t> shares_of(const std::vector<Claim>& claims, std::int64_t budget = kBudget);

}  // namespace koord::memory_reclaim
