// SPDX-License-Identifier: Apache-2.0
// Evictions: takes the requests of strategies, decides in rounds (round.hpp) with one tracker for strategies that may
// act and another for those in shadow, sends them to the API server, and reports the results. Nothing is queued: an
// eviction that is impossible now is forgotten, and a strategy that still needs it asks again. [any thread]
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/config/config.hpp"
#include "core/decision/decision.hpp"
#include "core/decision/modes.hpp"
#include "core/evict/eviction_tracker.hpp"
#include "core/evict/round.hpp"
#include "core/kube/eviction.hpp"
#include "core/state/hub.hpp"

namespace koord::evict {

// A pod that is to go, and for what.
struct Order {
  state::Pod pod;
  std::string plugin, strategy, feature;
  Request request;                         // without its pods
  std::int64_t releases = 0, missing = 0;  // of what the request is about
};

// The result of an order that was tried.
struct Outcome {
  Order order;
  decision::Outcome outcome = decision::Outcome::refused;
  std::string why;  // of a refusal
};

class Evictions final : public RequestSink {
 public:
  struct Parts {
    const Clock& clock;
    const state::Hub& hub;
    std::function<koord::Mode(const std::string& plugin)> mode;
    std::function<UsageByPod()> usage;
    std::function<void(Order)> ask;  // must only post; call answered() with the answer
    std::function<void(decision::Decision)> record;
    // For executed orders, and for failed ones when the result changes; for answers about the agent's access, which all
    // pods get, once. Must only post.
    std::function<void(const Outcome&)> on_outcome;
    std::function<void(Time until, const std::string& why)> on_brake;  // must only post
    // A pod is not evicted because a budget is used up, the pod does not allow it, or its state is unknown. Called when
    // that changes; must only post.
    std::function<void(const Outcome&)> on_held_back = {};
    // For the tier runtime: percent of the time of the last 10 s in which all tasks waited for memory; nothing:
    // unknown.
    std::function<std::optional<double>()> memory_pressure = {};
    std::function<Result<void>(const state::Pod&)> kill = {};  // all its containers
  };
  struct Options {
    config::EvictSettings limits;
    std::string own_uid;  // see RoundInput
    Duration pods_old{};  // after this time without a confirmation the pods are unknown
    std::uint64_t seed = 0;
  };

  Evictions(Parts parts, Options options);

  // The records of an earlier run of the agent, the oldest first: evictions that it sent and that are not known to have
  // failed count for budget and brake. A start is no new budget.
  void remember(const std::vector<decision::Decision>& records);
  void take(const decision::Proposer& proposer, std::vector<Request> requests) override;
  void answered(const std::string& uid, const Result<kube::EvictionAnswer>& answer);

  struct View {
    std::optional<Time> brake_until;
    std::string brake_why;  // of the last brake
    std::string quiet;      // why the API server is not asked now; empty: it may be
    std::size_t going = 0;  // pods that are being evicted and still exist, or have just ended
    std::map<std::pair<std::string, decision::Outcome>, std::uint64_t> counts;  // of what was new, by feature
  };
  View view() const;

 private:
  struct ReportedOutcome {
    decision::Outcome outcome = decision::Outcome::off;
    Time at{};
  };

  // [locked]
  std::string pods_problem(Time now) const;
  bool note(const Order& order, decision::Outcome outcome, const std::string& why,
            Time now);  // whether the result is new
  // Records the result of a request in any case, and counts it if it is new.
  bool note_answer(const Order& order, decision::Outcome outcome, const std::string& why, Time now);
  bool is_change(const Order& order, decision::Outcome outcome, Time now);
  // Whether the answer is about the agent's access, and the same as the last answer.
  bool repeats_access_problem(const Result<kube::EvictionAnswer>& answer);
  bool may_kill(const Verdict& verdict, Time now) const;

  bool kill(const Order& order);

  const Parts parts_;
  const Options options_;

  mutable std::mutex mutex_;  // of what follows
  EvictionTracker tracker_, shadow_;
  std::map<std::string, Order> asked_;                                                     // by uid; no answer yet
  std::map<std::tuple<std::string, std::string, std::string>, ReportedOutcome> reported_;  // by plugin, strategy, uid
  std::map<std::pair<std::string, decision::Outcome>, std::uint64_t> counts_;
  std::string access_problem_;  // of the last answer, if that was about the agent's access
};

}  // namespace koord::evict
