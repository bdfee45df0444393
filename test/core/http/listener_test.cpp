// SPDX-License-Identifier: Apache-2.0
#include "core/http/listener.hpp"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "test/support/loop_here.hpp"

using namespace koord;
using namespace koord::test;

namespace {

UniqueFd tcp_socket() { return UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

}  // namespace

TEST_CASE("a connection sends each piece of an answer at once") {
  LoopHere here;
  UniqueFd server = tcp_socket();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(server.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(server.get(), 1) == 0);
  REQUIRE(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  http::Listener listener(here.loop, std::move(server), "");
  UniqueFd accepted;
  listener.start([&](UniqueFd peer) { accepted = std::move(peer); });
  const UniqueFd client = tcp_socket();
  ::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), size);
  REQUIRE(here.until([&] { return static_cast<bool>(accepted); }));
  int is_on = 0;
  size = sizeof is_on;
  REQUIRE(::getsockopt(accepted.get(), IPPROTO_TCP, TCP_NODELAY, &is_on, &size) == 0);
  CHECK(is_on == 1);
}
