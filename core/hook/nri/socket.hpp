// SPDX-License-Identifier: Apache-2.0
// Socket: a connection to a unix socket on the loop. Bytes that cannot be sent at once are kept and sent later. [loop
// thread]
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/event/loop.hpp"

namespace koord::nri {

class Socket {
 public:
  struct Callbacks {
    // An error ends the connection.
    std::function<Result<void>(std::string_view bytes)> on_bytes;
    // The connection has ended. May destroy the socket.
    std::function<void(Error)> on_end;
  };
  // A peer that leaves more than this unread is cut off.
  static constexpr std::size_t kMaxUnsent = 16 << 20;

  static Result<std::unique_ptr<Socket>> connect(event::Loop& loop, const std::string& path, Callbacks callbacks);

  void send(std::string_view bytes);

 private:
  Socket(event::Loop& loop, UniqueFd fd, Callbacks callbacks)
      : loop_(loop), callbacks_(std::move(callbacks)), fd_(std::move(fd)) {}

  void on_readable();
  void flush();
  void drop_sent();
  void wait_until_writable();
  void end(Error why);

  event::Loop& loop_;
  Callbacks callbacks_;
  const UniqueFd fd_;
  UniqueFd same_fd_;  // a descriptor has one watch at a time
  std::string unsent_;
  std::size_t sent_ = 0;  // of unsent_
  std::unique_ptr<event::FdWatch> reading_;
  std::unique_ptr<event::FdWatch> writing_;
};

}  // namespace koord::nri
