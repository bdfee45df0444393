// SPDX-License-Identifier: Apache-2.0
// Dial: one new connection to a server: its name looked up, its addresses tried one after the other, hands shaken.
// Dropped: it is given up. [loop thread]
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/event/timer.hpp"
#include "core/http/channel.hpp"
#include "core/http/resolver.hpp"

namespace koord::http {

class Dial : public std::enable_shared_from_this<Dial> {
 public:
  // A channel that is open. Called once, never before start() returns; may drop the dial.
  using OnDone = std::function<void(Result<std::shared_ptr<Channel>>)>;

  Dial(event::Loop& loop, std::optional<TlsOptions> tls, OnDone on_done)
      : loop_(loop), tls_(std::move(tls)), on_done_(std::move(on_done)) {}
  ~Dial();

  void start(Resolver& resolver);

 private:
  void on_addresses(const Resolver::Addresses& addresses);
  void try_next();
  void on_failure(Error why);

  event::Loop& loop_;
  const std::optional<TlsOptions> tls_;
  OnDone on_done_;
  std::shared_ptr<Resolver::OnAddresses> asked_;
  std::vector<SocketAddress> left_;  // the next one last
  std::shared_ptr<Channel> channel_;
  std::unique_ptr<event::Timer> patience_;
};

}  // namespace koord::http
