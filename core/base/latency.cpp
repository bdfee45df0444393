// SPDX-License-Identifier: Apache-2.0
#include "core/base/latency.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace koord {

void Latency::add(Duration duration) {
  const double seconds = std::chrono::duration<double>(std::max(duration, Duration::zero())).count();
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  ++buckets_[static_cast<std::size_t>(bound - kBounds.begin())];
  ++count_;
  sum_seconds_ += seconds;
}

std::uint64_t Latency::cumulative(std::size_t i) const {
  return std::accumulate(buckets_.begin(), buckets_.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::uint64_t{0});
}

double Latency::quantile(double share) const {
  if (count_ == 0) return 0;
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  for (std::size_t i = 0; i < kBounds.size(); ++i)
    if (cumulative(i) >= wanted) return kBounds[i];
  return kBounds.back();
}

}  // namespace koord
