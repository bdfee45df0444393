// SPDX-License-Identifier: Apache-2.0
#include "core/service/event_log.hpp"

#include <algorithm>

#include "core/base/utf8.hpp"

namespace koord::service {
void EventLog::add(Event event) {
  cut_utf8(event.what, kMostText);
  cut_utf8(event.why, kMostText);
  std::lock_guard lock(mutex_);
  event.number = ++last_number_;
  OfPlugin& of = plugins_[event.plugin];
  ++of.count;
  of.events.push_back(std::move(event));
  if (of.events.size() > kMostPerPlugin) of.events.pop_front();
}

std::vector<Event> EventLog::events() const {
  std::vector<Event> all;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [plugin, of] : plugins_) all.insert(all.end(), of.events.begin(), of.events.end());
  }
  std::sort(all.begin(), all.end(), [](const Event& left, const Event& right) { return left.number < right.number; });
  return all;
}

std::map<std::string, std::uint64_t> EventLog::counts() const {
  std::lock_guard lock(mutex_);
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [plugin, of] : plugins_) counts[plugin] = of.count;
  return counts;
}

}  // namespace koord::service
