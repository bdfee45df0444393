// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/baseline.hpp"

namespace koord::analysis {

double Baseline::quiet() const {
  if (windows_ < rule_.windows) return 0;
  const double level = histogram_.percentile(rule_.quiet_share);
  // The first bucket has everything from 0 on.
  return level <= buckets_.first ? 0 : level;
}

}  // namespace koord::analysis
