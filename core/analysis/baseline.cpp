// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/baseline.hpp"

namespace koord::analysis {

double Baseline::quiet() const {
  if (windows_ < kFewestWindows) return 0;
  const double level = histogram_.percentile(kQuietShare);
  // The first bucket has everything from 0 on.
  return level <= kShares.first ? 0 : level;
}

}  // namespace koord::analysis
