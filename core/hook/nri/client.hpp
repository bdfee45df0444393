// SPDX-License-Identifier: Apache-2.0
// Client: keeps one connection to the NRI socket of a container runtime, and passes its events to a handler. While the
// socket is missing it waits for it; after a connection has ended it connects again, with a growing delay. It logs
// nothing: Events and status() report what happens. [loop thread]
#pragma once

#include <memory>
#include <vector>

#include "core/base/backoff.hpp"
#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/hook/nri/events.hpp"
#include "core/hook/nri/options.hpp"
#include "core/hook/nri/session.hpp"
#include "core/hook/nri/socket.hpp"
#include "core/hook/nri/socket_watch.hpp"
#include "core/hook/nri/status.hpp"

namespace koord::nri {

class Client {
 public:
  // check(options) has succeeded. All parameters stay until the client is destroyed, which no handler may do.
  Client(event::Loop& loop, const Clock& clock, Options options, Events& events);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void start();

  // Changes containers that exist. `on_updated` gets the ids of those that the runtime could not change; it is called
  // once, later, and not at all if the client is destroyed. Fails while the client is not active. A handler that waits
  // for it before it answers gets no answer: the runtime answers after that.
  void update_containers(const std::vector<Update>& updates, Session::OnUpdated on_updated);

  const Status& status() const { return status_; }

 private:
  void attempt();
  Result<void> connect();
  void retry_later();
  void on_created();
  void on_active();
  void end(Error why);

  event::Loop& loop_;
  const Clock& clock_;
  const Options options_;
  Events& events_;
  Status status_;
  Backoff backoff_;
  Time active_since_{};
  SocketWatch watch_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Socket> socket_;
  std::unique_ptr<event::Timer> retry_;
  std::unique_ptr<event::Timer> registration_;
  std::unique_ptr<event::Timer> failure_;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace koord::nri
