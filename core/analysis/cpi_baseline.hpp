// SPDX-License-Identifier: Apache-2.0
// CpiBaseline: mean and deviation of a workload's cycles per instruction; older windows count less. A plain value. [one
// thread at a time]
#pragma once

#include <cstddef>
#include <string>

#include "core/analysis/cache_record.hpp"
#include "core/analysis/cache_rule.hpp"

namespace koord::analysis {

struct CpiBaselineRule {
  Duration learn_time = std::chrono::hours(1);  // the CPI is unknown before this time …
  std::size_t learn_windows = 100;              // … and this many windows
  Duration half_life = std::chrono::hours(6);   // a window of this age counts half
};

class CpiBaseline {
 public:
  explicit CpiBaseline(CpiBaselineRule rule = {}) : rule_(rule) {}
  CpiBaseline(CpiBaselineRule rule, const SavedCpi& saved);

  void add(Time at, double cpi);

  bool is_empty() const { return windows_ == 0; }
  // Returns the usual CPI; its mean is 0 while it is unknown.
  UsualCpi usual() const;
  SavedCpi save(const std::string& workload) const;

 private:
  CpiBaselineRule rule_;
  Time first_{}, last_{};  // times of the first and last window
  std::size_t windows_ = 0;
  double weight_ = 0, mean_ = 0, squares_ = 0;  // squares: weighted sum of squared distances from the mean
};

}  // namespace koord::analysis
