// SPDX-License-Identifier: Apache-2.0
// Leadership: takes part in leader election (election.hpp) with a client of the API server. Use a separate client,
// because a request that waits for others can lose the leadership. [loop thread]
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/kube/client.hpp"
#include "core/manager/election.hpp"

namespace koord::manager {

// The time until which this replica leads, for other threads. It is right even if the process was suspended for a
// while. [any thread]
class LeaderTime {
 public:
  bool leads(const Clock& clock) const { return clock.now() < until_.load(); }
  void set(Time until) { until_ = until; }

 private:
  std::atomic<Time> until_ = Time::min();
};

class Leadership {
 public:
  struct Options {
    kube::LeasePlace lease;
    std::string identity;
    LeaseTiming timing = {};
    std::shared_ptr<LeaderTime> time = std::make_shared<LeaderTime>();
    // Returns the LeaseRecord::versions to write, computed from the versions in the lease. If the function is empty,
    // the versions do not change.
    std::function<std::uint64_t(std::uint64_t in_lease)> reserve = {};
    // `versions` are stored in the lease, and this replica holds it. Called before on_change(true).
    std::function<void(std::uint64_t versions)> on_reserved = {};
  };

  // `on_change` is called when this replica begins or ceases to lead. It must not destroy this object. All references
  // must outlive this object.
  Leadership(event::Loop& loop, const Clock& clock, kube::Client& client, Options options,
             std::function<void(bool leads)> on_change);
  ~Leadership();
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  // Checks the clock at each call, so the result is right even if the process was suspended for a while.
  bool leads() const;
  std::string holder() const;          // the holder as last read
  std::int64_t transitions() const;    // number of changes of the holder
  const std::string& problem() const;  // problem of the last request; empty: none

  // Ceases to lead, releases the lease, and then calls `done`.
  void release(std::function<void()> done);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::manager
