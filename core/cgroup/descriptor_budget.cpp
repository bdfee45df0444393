// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/descriptor_budget.hpp"

#include <algorithm>

namespace koord::cgroup {
namespace {

// The minimum step of growth. Doubling alone would never leave zero.
constexpr std::size_t kFirstStep = 64;

}  // namespace

bool DescriptorBudget::take(Time now, unsigned most_parts) {
  if (allowed_.load(std::memory_order_relaxed) < limit_) recover(now);
  const std::size_t allowed = allowed_.load(std::memory_order_relaxed);
  const std::size_t most = most_parts >= 4 ? allowed : allowed / 4 * most_parts;
  if (kept_.fetch_add(1, std::memory_order_relaxed) < most) return true;
  release();
  return false;
}

void DescriptorBudget::on_shortage(Time now) {
  const std::size_t fewer = kept() - (kept() + 3) / 4;
  if (fewer < allowed_.load(std::memory_order_relaxed)) allowed_.store(fewer, std::memory_order_relaxed);
  changed_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
}

// Grows the budget if it is due. If two threads call it at the same time, the exchange lets only one of them grow it.
void DescriptorBudget::recover(Time now) {
  Duration::rep before = changed_.load(std::memory_order_relaxed);
  if (now.time_since_epoch() - Duration(before) < kRecovery) return;
  if (!changed_.compare_exchange_strong(before, now.time_since_epoch().count(), std::memory_order_relaxed)) return;
  const std::size_t allowed = allowed_.load(std::memory_order_relaxed);
  allowed_.store(allowed > limit_ / 2 ? limit_ : std::min(limit_, allowed * 2 + kFirstStep), std::memory_order_relaxed);
}

}  // namespace koord::cgroup
