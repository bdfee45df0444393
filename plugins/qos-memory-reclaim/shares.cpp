// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-memory-reclaim/shares.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>

namespace koord::memory_reclaim {

std::vector<std::int64_t> shares_of(const std::vector<Claim>& claims, std::int64_t budget) {
  constexpr std::int64_t kLeast = 1 << 20;
  std::vector<std::size_t> order(claims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto rank = [&](std::size_t i) { return std::tuple(claims[i].cold.value_or(0), claims[i].page_cache); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank(a) > rank(b); });
  std::vector<std::int64_t> shares(claims.size(), 0);
  for (const std::size_t i : order) {
    const std::int64_t share = std::min(claims[i].want, budget);
    if (share < kLeast) continue;
    shares[i] = share;
    budget -= share;
  }
  return shares;
}

}  // namespace koord::memory_reclaim
