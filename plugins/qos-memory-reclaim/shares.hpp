// SPDX-License-Identifier: Apache-2.0
// Divides a round's budget among the pods' page caches. A round needs a limit, because reclaiming blocks the strand
// that decides on knobs. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace koord::memory_reclaim {

inline constexpr std::int64_t kBudget = 128 << 20;  // bytes per round for all pods together

struct Claim {
  std::int64_t want = 0;             // bytes
  std::optional<std::int64_t> cold;  // measured cold memory
  std::int64_t page_cache = 0;
};

// Returns the shares in the order of the claims. Claims with cold memory are served first, beginning with the most cold
// memory; then the other claims, beginning with the most page cache. Each gets the wanted amount until the budget is
// used up. A share below 1 MiB becomes 0.
std::vector<std::int64_t> shares_of(const std::vector<Claim>& claims, std::int64_t budget = kBudget);

}  // namespace koord::memory_reclaim
