// SPDX-License-Identifier: Apache-2.0
// EventLog: observations and actions of plugins and the host that an operator may ask for later: an OOM kill, a change
// of pace. Bounded for each plugin, the oldest go first: many events of one do not displace those of others. [any
// thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/metric/labels.hpp"

namespace koord::service {

struct Event {
  std::uint64_t number = 0;  // from 1, in the order of the reports
  Time time{};
  std::string plugin;      // the source; empty: the host
  metric::Labels subject;  // the pod or container it happened to, as its series are labelled; empty: the node
  std::string what, why;
};

class EventLog {
 public:
  static constexpr std::size_t kMostPerPlugin = 250;
  // Limit of `what` and of `why`; longer texts are cut.
  static constexpr std::size_t kMostText = 1024;

  void add(Event event);

  // The oldest first.
  std::vector<Event> events() const;
  // How many there were since the start, by plugin.
  std::map<std::string, std::uint64_t> counts() const;

 private:
  struct OfPlugin {
    std::deque<Event> events;
    std::uint64_t count = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::string, OfPlugin> plugins_;
  std::uint64_t last_number_ = 0;
};

}  // namespace koord::service
