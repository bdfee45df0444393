// SPDX-License-Identifier: Apache-2.0
#include "core/child/cpu_bucket.hpp"

#include <algorithm>

namespace koord::child {

CpuBucket::CpuBucket(std::uint64_t millicores, Steady::time_point now)
    : millicores_(static_cast<std::int64_t>(std::min<std::uint64_t>(millicores, 1'000'000))),
      most_ns_(millicores_ * 1'000'000),
      left_ns_(most_ns_),
      filled_(now) {}

void CpuBucket::spend(Duration cpu, Steady::time_point now) {
  if (millicores_ == 0) return;
  // Counts at most two seconds, because the product of a very long time would overflow.
  const auto passed = std::min<Duration>(now - filled_, std::chrono::seconds(2));
  filled_ = now;
  left_ns_ = std::min(most_ns_, left_ns_ + passed.count() * millicores_ / 1000);
  // Limits the debt to four seconds' worth, so one long request does not block the child for much longer.
  left_ns_ = std::max(left_ns_ - cpu.count(), -4 * most_ns_);
  empty_ = empty_ ? left_ns_ < most_ns_ / 10 : left_ns_ <= 0;
}

Duration CpuBucket::wait() const {
  if (!empty_) return Duration::zero();
  return Duration((most_ns_ / 10 - left_ns_) * 1000 / millicores_ + 1);
}

}  // namespace koord::child
