// SPDX-License-Identifier: Apache-2.0
// QuotaBreaches: the quotas that one plugin has met: when to log one, and which to show. [any thread]
#pragma once

#include <mutex>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/problem_tracker.hpp"

namespace koord::service {

class QuotaBreaches {
 public:
  static constexpr Duration kQuiet = std::chrono::minutes(10);  // between two lines about one quota
  static constexpr Duration kShown = std::chrono::minutes(10);  // how long the newest is shown

  // Returns whether to log this breach. `quota` is a literal.
  bool add(const char* quota, const std::string& text, Time now);
  // Empty: no breach within kShown.
  std::string newest(Time now) const;

 private:
  mutable std::mutex mutex_;
  ProblemTracker logged_{kQuiet};  // by quota
  std::string newest_;
  Time newest_at_{};
};

}  // namespace koord::service
