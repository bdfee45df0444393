// SPDX-License-Identifier: Apache-2.0
// Stream: the socket of one connection on the loop, plain or TLS: reads or writes, one at a time. Callbacks may close
// it and drop it. Owner: the connection. [loop thread]
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/event/loop.hpp"
#include "core/http/tls_server.hpp"

namespace koord::http {

class Stream {
 public:
  using OnOpen = std::function<void(Result<void>)>;
  using OnBytes = std::function<void(std::string_view)>;  // no bytes: the peer is gone
  using OnSent = std::function<void(bool)>;               // false: the peer is gone

  virtual ~Stream() = default;

  // Shakes hands where there is TLS, then calls `on_open` once, perhaps before open() returns. After an error only
  // shut(), close() and read() are of use; the bytes then mean nothing.
  virtual void open(OnOpen on_open) = 0;
  // Calls `on_bytes` for all received bytes, until one of the functions below is called.
  virtual void read(OnBytes on_bytes) = 0;
  virtual void pause() = 0;
  // Calls `on_sent` once, perhaps before send() returns. `body`: null is empty; it is released when all of it is sent.
  virtual void send(std::string header, std::shared_ptr<const std::string> body, OnSent on_sent) = 0;
  // Shuts down the sending direction.
  virtual void shut() = 0;
  virtual void close() = 0;
  // Null: no TLS. Its certificate is verified again when the authorities have changed, or after some seconds.
  virtual std::shared_ptr<const TlsPeer> peer() { return nullptr; }
};

// The socket is non-blocking.
std::shared_ptr<Stream> make_plain_stream(event::Loop& loop, UniqueFd fd);
std::shared_ptr<Stream> make_tls_stream(event::Loop& loop, UniqueFd fd, std::shared_ptr<TlsServer> server);

}  // namespace koord::http
