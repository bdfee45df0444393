// SPDX-License-Identifier: Apache-2.0
// Events: reports events to the cluster, as Events of core/v1 about pods and nodes (`kubectl describe` shows them).
// Best effort: an EventAggregator (event_aggregator.hpp) decides which to write and when; events that cannot be written
// in time are dropped. [loop thread]
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/kube/client.hpp"
#include "core/kube/event_aggregator.hpp"

namespace koord::kube {

class Events {
 public:
  // All references must outlive it.
  Events(event::Loop& loop, const Clock& clock, Client& client, EventAggregator::Source source,
         const EventAggregator::Limits& limits = {});
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  void record(EventInput input);

  std::uint64_t dropped() const;       // occurrences without an Event
  const std::string& problem() const;  // of the last request; empty: none

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::kube
