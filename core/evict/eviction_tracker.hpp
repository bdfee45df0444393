// SPDX-License-Identifier: Apache-2.0
// EvictionTracker: the evictions requested from the API server and their answers: which pods are being evicted and what
// they will release, how many were evicted lately, which pods to skip, and whether the brake holds. An eviction counts
// from the moment it is sent until it is known to have failed. Pure: times are passed in. [one thread at a time]
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/backoff.hpp"
#include "core/base/clock.hpp"
#include "core/config/config.hpp"
#include "core/evict/holding.hpp"
#include "core/kube/eviction.hpp"
#include "core/state/snapshot.hpp"

namespace koord::evict {

// The brake never holds before more than this many pods were picked in a window, however small the node is.
inline constexpr std::size_t kBrakeFloor = 5;
// How many pods may be picked in evict.window on a node of `pods` pods; one more, and the brake holds.
std::size_t most_picked(std::size_t pods, std::uint64_t brake_percent);

class EvictionTracker {
 public:
  // `seed`: so that nodes do not come back to a busy server all at once.
  EvictionTracker(const config::EvictSettings& limits, std::uint64_t seed);

  // Updates the pods being evicted, and forgets what has expired. Before each round.
  void update(const state::Snapshot& snapshot, Time now);

  // ---- pods being evicted. A pod counts as released while it is Terminating, however long that takes, and for
  // evict.pendingPeriod if it is not seen to be Terminating. After its end it counts until measurements show it: 20 s
  // for CPU and 4 s for memory, which are averages of that long at koordlet's defaults, and not at all for requests.
  bool is_pending(std::string_view uid) const { return pending_.contains(uid); }
  std::int64_t releases(const Release& release, Time now) const;
  std::size_t going() const { return pending_.size(); }

  // ---- whether more may go.
  // These were picked to satisfy requests. True: the picks of this window that were not refused are more than
  // most_picked(), and no pod is evicted for evict.brakePeriod.
  bool pick(const std::vector<std::string>& uids, const state::Snapshot& snapshot, Time now);
  std::optional<Time> brake_until(Time now) const;
  const std::string& brake_why() const { return brake_why_; }  // of the last brake
  std::uint64_t room(Time now) const;                          // pods that may still go in this window
  // Why this pod is not to be asked for now; empty: it may be.
  std::string wait_of(std::string_view uid, Time now) const;
  // The same of all pods.
  std::string quiet(Time now) const;

  // ---- what is done.
  void ask(const std::string& uid, const Holding& holding, Time now);
  // An error: the request never left. After kBrakeFloor unanswered evictions in a window the brake holds.
  void answered(const std::string& uid, const Result<kube::EvictionAnswer>& answer, Time now);
  // An earlier run of the agent asked for it; it counts for budget and brake.
  void remember(const std::string& uid, Time when);
  // Undoes remember(): that request is known to have failed.
  void forget(const std::string& uid);
  // It was ended without the API server.
  void killed(const std::string& uid, const Holding& holding, Time now);

 private:
  struct PendingEviction {
    Holding holding;
    Time since{};
    bool terminating = false;
    std::optional<Time> gone;
  };
  struct Refusal {
    std::uint32_t count = 0;  // in a row
    Time until{};
    std::string why;
  };
  using Times = std::map<std::string, Time, std::less<>>;  // by uid

  bool is_over(const PendingEviction& going, Time now) const;
  void refuse(const std::string& uid, const kube::EvictionAnswer& answer, Time now);
  void brake(std::string why, Time now);
  void be_quiet(Duration at_least, std::string why, Time now);

  const config::EvictSettings limits_;
  std::map<std::string, PendingEviction, std::less<>> pending_;  // by uid
  std::map<std::string, Refusal, std::less<>> refusals_;
  Times asked_, picked_, unanswered_;  // when, within the window
  std::optional<Time> brake_until_;
  std::string brake_why_;
  Backoff backoff_;
  Time quiet_until_{};
  std::string quiet_why_;
};

// The pod of this uid; nullptr: missing.
const state::Pod* find_pod(const state::Snapshot& snapshot, std::string_view uid);

}  // namespace koord::evict
