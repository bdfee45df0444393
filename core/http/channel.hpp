// SPDX-License-Identifier: Apache-2.0
// Channel: one connection to a server on the loop, plain or TLS: bytes in, bytes out, both at once. The current user
// attaches handlers; they may close it, attach others or drop it. [loop thread]
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/event/fd_watch.hpp"
#include "core/event/loop.hpp"
#include "core/http/socket_address.hpp"
#include "core/http/tls.hpp"

namespace koord::http {

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  struct Handlers {
    std::function<void()> on_open;  // connected, hands shaken
    std::function<void(std::string_view)> on_bytes;
    // Once, then nothing more: the server has ended in order, or why the connection is of no use any more.
    std::function<void(Result<void>)> on_end;
  };

  // Begins to connect. Nothing is called before it returns.
  static Result<std::shared_ptr<Channel>> open(event::Loop& loop, const SocketAddress& address,
                                               const std::optional<TlsOptions>& tls, Handlers handlers);
  Channel(event::Loop& loop, UniqueFd fd) : loop_(loop), fd_(std::move(fd)) {}

  void attach(Handlers handlers);
  // On an open channel. Bytes that the socket does not take now are kept and sent later.
  void send(std::string_view plain);
  // All has been given to the kernel.
  bool all_sent() const { return unsent_.empty(); }
  // The server has not closed it, as far as the kernel knows.
  bool alive() const;
  void close();

 private:
  Result<void> begin(const SocketAddress& address, const std::optional<TlsOptions>& tls);
  void on_connected();
  void on_readable();
  void go_on_shaking_hands();
  void take(std::string_view bytes);
  void take_encrypted(std::string_view bytes);
  void queue(std::string bytes);
  void flush();
  void end(Result<void> why);

  event::Loop& loop_;
  UniqueFd fd_;
  UniqueFd same_fd_;  // for the second watch: a descriptor has one
  std::unique_ptr<event::FdWatch> reading_, writing_;
  std::optional<TlsSession> tls_;
  std::shared_ptr<const Handlers> handlers_;
  bool open_ = false;
  std::string unsent_;
  std::size_t sent_ = 0;  // of unsent_
};

}  // namespace koord::http
