// SPDX-License-Identifier: Apache-2.0
#include "core/host/restart_policy.hpp"

namespace koord::host {

std::optional<Duration> RestartPolicy::failed(Time now) {
  while (!failures_.empty() && now - failures_.front() >= kWindow) failures_.pop_front();
  failures_.push_back(now);
  if (failures_.size() >= kMaxFailures) return std::nullopt;
  return first_delay_ * (1 << (failures_.size() - 1));
}

}  // namespace koord::host
