// SPDX-License-Identifier: Apache-2.0
// Connections: those to one server, kept ones and new ones, in a bounded number, and the requests that wait for one.
// [loop thread]
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/event/timer.hpp"
#include "core/http/async_client.hpp"
#include "core/http/channel.hpp"
#include "core/http/resolver.hpp"

namespace koord::http {

// The right to have one connection open.
class Slot;

// A connection lent to one request.
struct Lease {
  std::shared_ptr<Slot> slot;
  std::shared_ptr<Channel> channel;
  std::uint64_t generation = 0;  // of the TLS options it was made with
  bool used = false;             // it has served a request
};

class Connections : public std::enable_shared_from_this<Connections> {
 public:
  Connections(event::Loop& loop, event::WorkerPool& workers, Origin origin, const AsyncLimits& limits);

  // The one kept last, if it is alive.
  std::optional<Lease> take_kept();
  // None: as many are open as may be.
  std::shared_ptr<Slot> take_slot();
  // Calls once, when there is a kept connection or a slot; nothing: too many wait.
  std::shared_ptr<std::function<void()>> wait(std::function<void()> on_room);
  // Keeps a connection after its request was answered.
  void keep(Lease connection);
  void close_kept();
  void renew(std::optional<TlsOptions> tls);

  event::Loop& loop() { return loop_; }
  Resolver& resolver() { return *resolver_; }
  const Origin& origin() const { return origin_; }
  std::uint64_t generation() const { return generation_; }

  std::atomic<std::uint64_t> opened = 0;
  std::atomic<std::uint64_t> sent = 0;

 private:
  friend class Slot;
  struct Kept {
    Lease lease;
    std::unique_ptr<event::Timer> expiry;
  };

  void on_slot_free();
  void wake_next();
  void drop(const Channel* channel);

  event::Loop& loop_;
  Origin origin_;
  const AsyncLimits limits_;
  std::shared_ptr<Resolver> resolver_;
  std::vector<Kept> kept_;
  std::size_t open_ = 0;
  std::deque<std::weak_ptr<std::function<void()>>> waiting_;
  std::unique_ptr<event::Timer> wake_timer_;
  std::uint64_t generation_ = 0;
};

class Slot {
 public:
  explicit Slot(std::weak_ptr<Connections> owner) : owner_(std::move(owner)) {}
  ~Slot();
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

 private:
  std::weak_ptr<Connections> owner_;
};

}  // namespace koord::http
