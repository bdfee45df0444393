// SPDX-License-Identifier: Apache-2.0
// ApiEvictor: asks the API server for evictions and writes Events about them. A request that waits too long for its
// turn or for an answer is given up, because the decision behind it is stale by then. [loop thread]
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/evict/evictions.hpp"
#include "core/kube/events.hpp"
#include "core/kube/evictor.hpp"

namespace koord::evict {

class ApiEvictor {
 public:
  struct Options {
    kube::EventAggregator::Source source;  // of the Events
    Duration patience = std::chrono::seconds(20);
  };
  // All references must outlive it.
  ApiEvictor(event::Loop& loop, const Clock& clock, kube::Client& client, Options options);
  ~ApiEvictor();
  ApiEvictor(const ApiEvictor&) = delete;
  ApiEvictor& operator=(const ApiEvictor&) = delete;

  using OnAnswer = std::function<void(const std::string& uid, const Result<kube::EvictionAnswer>& answer)>;
  // Called once, never before ask() returns. An error: the request never left. `unanswered`: it was sent, and may be
  // done. A second request for the same pod is ignored while the first one runs.
  void ask(const Order& order, const OnAnswer& on_answer);

  // An Event of the pod: evictPodSuccess or evictPodFail, as koordlet's.
  void record(const Outcome& outcome);
  void record(kube::EventInput input) { events_.record(std::move(input)); }

  std::size_t waiting() const { return requests_.size(); }
  const std::string& event_problem() const { return events_.problem(); }

 private:
  struct Request {
    kube::Client::PendingPtr pending;
    std::unique_ptr<event::Timer> patience;
  };
  void give_up(const std::string& uid, const OnAnswer& on_answer);
  void end(const std::string& uid, const OnAnswer& on_answer, const Result<kube::EvictionAnswer>& answer);

  event::Loop& loop_;
  const Options options_;
  kube::Evictor evictor_;
  kube::Events events_;
  std::map<std::string, Request> requests_;  // by uid
};

}  // namespace koord::evict
