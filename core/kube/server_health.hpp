// SPDX-License-Identifier: Apache-2.0
// ServerHealth: shared by all collections that one client follows, so that they come back together after the server was
// away. A collection that failed because of the server waits here, besides its own back-off. While no watch is open,
// one waiting collection after the other tries again, at most `longest` apart: one cheap probe, not one for each
// collection. The first success of any of them wakes all others. Owner: the client. [loop thread]
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/backoff.hpp"
#include "core/base/clock.hpp"
#include "core/event/loop.hpp"

namespace koord::kube {

class ServerHealth {
 public:
  struct Options {
    Duration first =
        std::chrono::milliseconds(500);  // before the first probe: half of it up to it, then twice as long each time
    Duration longest = std::chrono::seconds(5);  // between two probes
  };
  enum class Wake : std::uint8_t { probe, answered };

  // One collection. Must end before the ServerHealth.
  class Member {
   public:
    // `wake`: probe: it may try now, for all of them; answered: the server answers again. It may call any function
    // here.
    Member(ServerHealth& health, std::function<void(Wake)> wake);
    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    // It failed because of the server, which asked for no request before `not_before`.
    void wait(Time not_before);
    // It does not wait for the server any more.
    void stop_waiting() { waits_ = false; }
    // A list was answered.
    void succeeded();
    // A watch has begun, which is a success; it has ended.
    void watch_opened();
    void watch_closed();

   private:
    friend class ServerHealth;
    ServerHealth& health_;
    const std::function<void(Wake)> wake_;
    bool waits_ = false, watches_ = false;
    Time not_before_{};
    std::uint64_t order_ = 0;  // when it was last woken, among the others
  };

  ServerHealth(event::Loop& loop, const Clock& clock, const Options& options, std::uint64_t seed)
      : loop_(loop), clock_(clock), options_(options), random_(seed) {}

  // Some collection waits, and no watch is open.
  bool away() const { return open_watches_ == 0 && first_waiting() != nullptr; }

 private:
  Member* first_waiting() const;
  void plan_probe();
  void probe();
  void wake_all();

  event::Loop& loop_;
  const Clock& clock_;
  const Options options_;
  RandomSource random_;
  std::vector<Member*> members_;
  std::size_t open_watches_ = 0;
  std::uint32_t probes_ = 0;  // since the last success
  std::uint64_t last_order_ = 0;
  std::unique_ptr<event::Timer> timer_;
  Time due_{};  // of the timer
};

}  // namespace koord::kube
