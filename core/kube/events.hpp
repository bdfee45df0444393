// SPDX-License-Identifier: Apache-2.0
// Events: tells the cluster what happened, as Events of core/v1 about pods and nodes (`kubectl describe` shows them).
// Best effort: an EventBook (event_book.hpp) says what is written when, and what cannot be written in time is dropped.
// [loop thread]
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/kube/client.hpp"
#include "core/kube/event_book.hpp"

namespace koord::kube {

class Events {
 public:
  // All that is referred to must outlive it.
  Events(event::Loop& loop, const Clock& clock, Client& client, EventBook::Source source, const EventBook::Limits& limits = {});
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  void tell(Happening happening);

  std::uint64_t dropped() const;        // happenings that no Event tells of
  const std::string& problem() const;  // of the last request; empty: none

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::kube
