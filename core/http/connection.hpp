// SPDX-License-Identifier: Apache-2.0
// One connection of the server, from its first byte to its end: reads requests one after the other, has each
// handled by a worker, writes the answer. Owner: the server's core, until the connection says that it is
// over. [loop thread]
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/base/byte_budget.hpp"
#include "core/base/unique_fd.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/http/limits.hpp"
#include "core/http/routes.hpp"
#include "core/http/tls_server.hpp"

namespace koord::http {

class Connection;

// State shared by all connections. It outlives the server while a worker still runs a handler.
struct Service {
  Service(event::Loop& on_loop, event::WorkerPool& on_workers, Routes served, Limits limited_by)
      : loop(on_loop),
        workers(on_workers),
        routes(std::move(served)),
        limits(limited_by),
        memory(std::make_shared<ByteBudget>(limited_by.request_bytes)) {}

  event::Loop& loop;
  event::WorkerPool& workers;
  const Routes routes;
  const Limits limits;
  const std::shared_ptr<ByteBudget> memory;  // of all requests
  // [loop] Sets the connection's share of `memory`. False: there is no room for it.
  std::function<bool(const Connection&, ByteShare& share, std::uint64_t bytes)> hold;
  std::atomic<std::uint64_t> requests = 0;
  std::atomic<std::uint64_t> errors = 0;
  std::atomic<std::uint64_t> refused_requests = 0;  // for lack of memory
  std::atomic<std::uint64_t> failed_handshakes = 0;
  std::uint64_t last_turn = 0;  // [loop] see Connection::turn(), begun()
};

// The other end of a connection.
struct ConnectionPeer {
  bool is_unix = false;
  std::shared_ptr<const LocalPeer> process = nullptr;  // of a unix socket; null: unknown, and refused
  std::string refusal = {};  // not empty: the first request, within a second, is answered with 403 and this text
  std::shared_ptr<TlsServer> tls = nullptr;  // null: plain
};

class Connection {
 public:
  using OnOver = std::function<void(Connection*)>;

  // `on_over` is called once, at the end; it may drop the connection.
  static std::shared_ptr<Connection> open(std::shared_ptr<Service> service, UniqueFd fd, ConnectionPeer peer,
                                          OnOver on_over);
  virtual ~Connection() = default;

  virtual void start() = 0;
  // Ends now when no request is in flight, otherwise behind the answer.
  virtual void finish() = 0;
  virtual void cut() = 0;
  // The turn in which it last began to wait for a request, counted over all connections of the server.
  virtual std::uint64_t turn() const = 0;
  // It has no whole request yet, or none will come. False: it is being answered.
  virtual bool is_waiting() const = 0;

  // The bytes of `Service::memory` that are free when refuse_request() returns.
  virtual std::uint64_t held_bytes() const = 0;
  // The turn in which its current request began, counted like turn().
  virtual std::uint64_t begun() const = 0;
  // Refuses the request that is being received, because too many bytes are being received.
  virtual void refuse_request() = 0;
};

}  // namespace koord::http
