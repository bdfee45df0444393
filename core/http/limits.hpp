// SPDX-License-Identifier: Apache-2.0
// Limits of the cost of peers. The defaults suit a node agent with a handful of clients. When a cap is reached, the
// connection that has waited longest for a request is closed for the new one. If all of them are being answered, the
// address (of IPv6: the network of 64 bits) with the most connections loses its oldest one to one with fewer; else the
// new one gets 503. When all requests together exceed `request_bytes`, the address from which most bytes are being
// received loses the request that it began first: 429, or without a whole header the connection ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "core/base/clock.hpp"

namespace koord::http {

struct Limits {
  std::size_t header_bytes = 8 << 10;
  std::size_t connections = 64;               // of one listener: scrapers cannot lock out the local socket
  std::size_t connections_of_peer = 16;       // of one address at one listener; unix sockets have no such cap
  std::size_t connections_of_network = 32;    // the same of all addresses of an IPv6 network of 64 bits
  std::size_t request_bytes = SIZE_MAX;       // of headers and bodies that are being received or handled
  std::size_t send_buffer_bytes = 128 << 10;  // of a TCP connection: about the cost of a peer that never reads
  std::size_t gzip_from_bytes = 1 << 10;
  Duration idle = std::chrono::seconds(60);       // from an answer to the next request
  Duration read = std::chrono::seconds(10);       // for the whole of a request
  Duration handler = std::chrono::seconds(30);    // then 503; the handler is not interrupted, its answer is dropped
  Duration write = std::chrono::seconds(10);      // for the whole of an answer
  Duration handshake = std::chrono::seconds(10);  // of TLS
};

}  // namespace koord::http
