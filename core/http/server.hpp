// SPDX-License-Identifier: Apache-2.0
// A small HTTP/1.1 server on TCP and unix sockets. Its sockets live on the loop, its handlers run on the
// worker pool. Owner: agentd. The loop and the pool outlive the server, the loop outlives the pool's last
// task.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/http/limits.hpp"
#include "core/http/local_peer.hpp"
#include "core/http/routes.hpp"
#include "core/http/tls_server.hpp"

namespace koord::event {
class Loop;
class WorkerPool;
}  // namespace koord::event

namespace koord::http {

class Server {
 public:
  struct Counters {
    std::uint64_t requests = 0;
    std::uint64_t errors = 0;                 // answered with 4xx or 5xx
    std::uint64_t refused_connections = 0;    // at a cap
    std::uint64_t displaced_connections = 0;  // closed at a cap for a newer one
    std::uint64_t open_connections = 0;
    std::uint64_t failed_handshakes = 0;  // of TLS
    std::uint64_t refused_requests = 0;   // beyond Limits::request_bytes
    std::uint64_t request_bytes = 0;      // of requests that are being received or handled
  };

  Server(event::Loop& loop, event::WorkerPool& workers, Routes routes, Limits limits = {});
  // Cuts what stop() did not end. [loop thread, or when the loop does not run]
  ~Server();

  // "127.0.0.1:9316", "[::1]:0", "localhost:9316", ":9316" (every address). Returns the port. [any thread]
  Result<std::uint16_t> listen_tcp(std::string_view address);

  // The same with TLS.
  Result<std::uint16_t> listen_tls(std::string_view address, std::shared_ptr<TlsServer> tls);

  // A socket that only its owner, and the group of `access`, may open. The folder is made; a socket without a listener
  // is replaced; a socket with a listener is an error. Removed again by stop(). [any thread]
  Result<void> listen_unix(const std::string& path, UnixAccess access = {});

  // Stops accepting connections, lets requests in flight end for at most `bound`, cuts the rest; then calls `stopped`
  // on the loop. [any thread]
  void stop(Duration bound, std::function<void()> stopped = {});

  Counters counters() const;  // [any thread]

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace koord::http
