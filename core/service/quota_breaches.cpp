// SPDX-License-Identifier: Apache-2.0
#include "core/service/quota_breaches.hpp"

namespace koord::service {

bool QuotaBreaches::add(const char* quota, const std::string& text, Time now) {
  std::lock_guard lock(mutex_);
  newest_ = text;
  newest_at_ = now;
  return logged_.update(quota, quota, now) == ProblemTracker::Change::begun;
}

std::string QuotaBreaches::newest(Time now) const {
  std::lock_guard lock(mutex_);
  return newest_.empty() || now - newest_at_ > kShown ? std::string() : newest_;
}

}  // namespace koord::service
