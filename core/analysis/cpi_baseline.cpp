// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/cpi_baseline.hpp"

#include <algorithm>
#include <cmath>

namespace koord::analysis {

CpiBaseline::CpiBaseline(CpiBaselineRule rule, const SavedCpi& saved)
    : rule_(rule),
      first_(saved.seen - std::min(saved.known, saved.seen.time_since_epoch())),
      last_(saved.seen),
      windows_(std::max<std::size_t>(saved.windows, 1)),
      weight_(saved.weight),
      mean_(saved.mean),
      squares_(saved.weight * saved.deviation * saved.deviation) {}

// Adds a window by Welford's update with weights, so that older windows count less.
void CpiBaseline::add(Time at, double cpi) {
  if (!std::isfinite(cpi) || cpi <= 0) return;
  if (windows_ == 0) first_ = last_ = at;
  if (at > last_) {
    const double kept = std::exp2(-std::chrono::duration<double>(at - last_) / rule_.half_life);
    weight_ *= kept;
    squares_ *= kept;
    last_ = at;
  }
  ++windows_;
  weight_ += 1;
  const double distance = cpi - mean_;
  mean_ += distance / weight_;
  squares_ += distance * (cpi - mean_);
}

UsualCpi CpiBaseline::usual() const {
  if (windows_ < rule_.learn_windows || last_ - first_ < rule_.learn_time) return {};
  return {mean_, std::sqrt(std::max(0.0, squares_ / weight_))};
}

SavedCpi CpiBaseline::save(const std::string& workload) const {
  const double deviation = weight_ > 0 ? std::sqrt(std::max(0.0, squares_ / weight_)) : 0;
  return {workload, last_, windows_, last_ - first_, weight_, mean_, deviation};
}

}  // namespace koord::analysis
