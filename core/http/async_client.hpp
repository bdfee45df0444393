// SPDX-License-Identifier: Apache-2.0
// AsyncClient: requests to one server on the loop, over HTTP/1.1 with connections kept and reused. A connection serves
// one request at a time; as many are open as there are requests at once, up to a bound, and further ones wait. When a
// kept connection turns out to be dead before a byte of the answer, an idempotent request is sent once more on a new
// one. [loop thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/http/client.hpp"
#include "core/http/message.hpp"
#include "core/http/tls.hpp"

namespace koord::http {

struct Origin {
  std::string host;  // a name or an address, an IPv6 address without brackets
  std::uint16_t port = 443;
  std::optional<TlsOptions> tls = std::nullopt;  // https
};

struct AsyncLimits {
  std::size_t kept = 4;                      // connections without a request
  std::size_t open = 64;                     // connections
  std::size_t waiting = 1024;                // requests beyond those; further ones fail
  Duration idle = std::chrono::seconds(50);  // how long a connection is kept without a request
};

struct AsyncRequest {
  std::string method = "GET";
  std::string target;
  Headers headers = {};  // but Host and Content-Length
  std::string body = {};
  Duration timeout = std::chrono::seconds(10);  // for all of the answer; of a stream: for its header
  Duration silence = std::chrono::minutes(5);   // of a stream: how long nothing may come
  std::size_t max_body = kMaxClientBody;        // of what is kept
};

class AsyncClient {
 public:
  // Receives an answer of any status, or why none came. Called once, never before send() returns.
  using OnAnswer = std::function<void(Result<ClientResponse>)>;
  // The next piece of a stream; an error ends it with that.
  using OnPiece = std::function<Result<void>(std::string_view)>;

  // Destroyed: nothing will be called any more. A callback may destroy its own. Ends before the client.
  class Pending {
   public:
    virtual ~Pending() = default;
    // The server may have the request. False: the request certainly never left, for example because the connection was
    // refused.
    virtual bool was_sent() const = 0;
  };
  using PendingPtr = std::unique_ptr<Pending>;

  AsyncClient(event::Loop& loop, event::WorkerPool& workers, Origin origin, const AsyncLimits& limits = {});
  ~AsyncClient();
  AsyncClient(const AsyncClient&) = delete;
  AsyncClient& operator=(const AsyncClient&) = delete;

  PendingPtr send(AsyncRequest request, OnAnswer on_answer);
  // The body of an answer of status 2xx goes to `on_piece`, and `on_answer` is called when it has ended; any other
  // answer is as for send(). `on_begin` (may be empty) is called once the header of such an answer is there and more is
  // to come; pieces of the body may come before it.
  PendingPtr stream(AsyncRequest request, OnPiece on_piece, OnAnswer on_answer, std::function<void()> on_begin = {});

  // For new connections. Those that are kept close, those in use are not kept.
  void renew(std::optional<TlsOptions> tls);

  // [any]
  std::uint64_t connections_opened() const;
  std::uint64_t requests_sent() const;

 private:
  std::shared_ptr<class Connections> connections_;
};

}  // namespace koord::http
