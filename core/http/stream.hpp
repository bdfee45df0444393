// SPDX-License-Identifier: Apache-2.0
// The socket of one connection on the loop: reads or writes, one at a time. Its callbacks may destroy it. Owner: the
// connection. [loop thread]
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/unique_fd.hpp"
#include "core/event/fd_watch.hpp"
#include "core/event/loop.hpp"

namespace koord::http {

class Stream {
 public:
  using OnBytes = std::function<void(std::string_view)>;  // no bytes: the peer is gone
  using OnSent = std::function<void(bool)>;               // false: the peer is gone

  // The socket is non-blocking.
  Stream(event::Loop& loop, UniqueFd fd) : loop_(loop), fd_(std::move(fd)) {}

  // Calls `on_bytes` for all received bytes, until one of the functions below is called.
  void read(OnBytes on_bytes);
  void pause() { watch_.reset(); }
  // Calls `on_sent` once, perhaps before send() returns. `body`: null is empty; it is released when all of it is sent.
  void send(std::string header, std::shared_ptr<const std::string> body, OnSent on_sent);
  // Shuts down the sending direction.
  void shut();
  void close();

 private:
  void receive(const OnBytes& on_bytes);

  event::Loop& loop_;
  UniqueFd fd_;
  std::unique_ptr<event::FdWatch> watch_;
};

}  // namespace koord::http
