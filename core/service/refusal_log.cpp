// SPDX-License-Identifier: Apache-2.0
#include "core/service/refusal_log.hpp"

#include <utility>

namespace koord::service {

std::optional<std::string> RefusalLog::admit(std::string_view plugin, const std::string& reason, Time now) {
  std::lock_guard lock(mutex_);
  auto of = plugins_.find(plugin);
  if (of == plugins_.end()) of = plugins_.emplace(std::string(plugin), OfPlugin{}).first;
  auto& [reasons, full_since] = of->second;
  auto known = reasons.find(reason);
  if (known != reasons.end()) {
    Reason& before = known->second;
    if (now - before.logged < kQuiet) {
      ++before.left_out;
      return std::nullopt;
    }
    before.logged = now;
    const std::uint64_t left_out = std::exchange(before.left_out, 0);
    return left_out == 0 ? reason : reason + " (" + std::to_string(left_out) + " more since the last line)";
  }
  std::erase_if(reasons, [&](const auto& one) { return now - one.second.logged >= kQuiet; });
  if (reasons.size() < kMaxReasons) {
    reasons.emplace(reason, Reason{now, 0});
    return reason;
  }
  if (full_since && now - *full_since < kQuiet) return std::nullopt;
  full_since = now;
  return "more than " + std::to_string(kMaxReasons) +
         " different requests were refused within an hour, further ones are not logged";
}

}  // namespace koord::service
