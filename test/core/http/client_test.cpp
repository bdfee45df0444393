// SPDX-License-Identifier: Apache-2.0
#include "core/http/client.hpp"

#include <doctest/doctest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <string>
#include <thread>

#include "core/http/socket_address.hpp"
#include "running_server.hpp"

using namespace koord;
using namespace koord::test;

namespace {

// Returns the error of a request to a server that answers the first connection with these bytes.
std::string error_for_answer(const std::string& bytes) {
  auto listener = http::open_tcp_listener("127.0.0.1:0");
  std::string address = "127.0.0.1:" + std::to_string(*http::local_port(listener->get()));
  std::jthread server([&] {
    UniqueFd peer;
    while (!peer) peer.reset(::accept(listener->get(), nullptr, nullptr));
    char request[4096];
    (void)::recv(peer.get(), request, sizeof request, 0);
    (void)::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  });
  auto answer = http::get(address, "/");
  return answer ? "" : answer.error().message();
}

}  // namespace

TEST_CASE("a missing socket is reported with its path") {
  auto answer = http::get("/nowhere/koord.sock", "/");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().message() == "'/nowhere/koord.sock': cannot connect: No such file or directory");
  CHECK(answer.error().is(std::errc::no_such_file_or_directory));
}

TEST_CASE("a server that never answers is given up at the timeout") {
  auto listener = http::open_tcp_listener("127.0.0.1:0");
  auto answer =
      http::get("127.0.0.1:" + std::to_string(*http::local_port(listener->get())), "/", std::chrono::milliseconds(50));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().is(std::errc::timed_out));
}

TEST_CASE("a server that trickles its answer is given up at the timeout, too") {
  auto listener = http::open_tcp_listener("127.0.0.1:0");
  std::jthread server([&](const std::stop_token& stop) {
    UniqueFd peer;
    while (!peer && !stop.stop_requested()) peer.reset(::accept(listener->get(), nullptr, nullptr));
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
    (void)::send(peer.get(), head.data(), head.size(), MSG_NOSIGNAL);
    while (!stop.stop_requested() && ::send(peer.get(), "x", 1, MSG_NOSIGNAL) == 1) std::this_thread::yield();
  });
  auto answer =
      http::get("127.0.0.1:" + std::to_string(*http::local_port(listener->get())), "/", std::chrono::milliseconds(50));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().is(std::errc::timed_out));
}

TEST_CASE("a cancelled exchange ends at once") {
  auto listener = http::open_tcp_listener("127.0.0.1:0");
  UniqueFd cancel(::eventfd(1, EFD_CLOEXEC));
  auto answer = http::get("127.0.0.1:" + std::to_string(*http::local_port(listener->get())), "/",
                          {.timeout = std::chrono::hours(1), .cancel_fd = cancel.get()});
  REQUIRE_FALSE(answer);
  CHECK(answer.error().is(std::errc::operation_canceled));
}

TEST_CASE("an answer that is larger than wanted is refused") {
  http::Routes routes;
  routes.get("/", [](const http::Request&) { return http::plain_text(200, std::string(1000, 'x')); });
  RunningServer server(std::move(routes));
  CHECK(http::get(server.address(), "/", {.max_body = 2000}));
  auto refused = http::get(server.address(), "/", {.max_body = 500});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message().find("found a body of more than 500 bytes") != std::string::npos);
}

TEST_CASE(
    "the pieces of a body go to the caller and count against the limit, and an error of the caller ends the exchange") {
  http::Routes routes;
  routes.get("/",
             [](const http::Request&) { return http::plain_text(200, std::string(99'999, 'x')); });  // plus a line end
  RunningServer server(std::move(routes));
  std::string pieces;
  http::ClientOptions options{.on_body = [&](std::string_view piece) -> Result<void> {
    pieces += piece;
    return {};
  }};
  const auto answer = http::get(server.address(), "/", options);
  REQUIRE(answer);
  CHECK(answer->body.empty());
  CHECK(pieces == std::string(99'999, 'x') + "\n");
  options.max_body = 99'999;
  CHECK_FALSE(http::get(server.address(), "/", options));
  options.max_body = 100'000;
  options.on_body = [](std::string_view) -> Result<void> { return invalid("that is enough"); };
  const auto refused = http::get(server.address(), "/", options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message().find("that is enough") != std::string::npos);
}

TEST_CASE("an answer that is not HTTP or breaks off is an error") {
  CHECK(error_for_answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").empty());
  CHECK_FALSE(error_for_answer("SSH-2.0-x\r\n").empty());
  CHECK_FALSE(error_for_answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok").empty());
  CHECK_FALSE(error_for_answer("").empty());
}

TEST_CASE("an answer counts that comes although the request could not be sent") {
  SocketFolder folder;
  auto listener = http::open_unix_listener(folder.path("s"));
  std::jthread server([&] {
    UniqueFd peer;
    while (!peer) peer.reset(::accept(listener->get(), nullptr, nullptr));
    const std::string full = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
    (void)::send(peer.get(), full.data(), full.size(), MSG_NOSIGNAL);
  });
  auto answer = http::post(folder.path("s"), "/", std::string(8 << 20, 'x'));
  REQUIRE(answer);
  CHECK(answer->status == 503);
}

TEST_CASE("an invalid endpoint is reported in words") {
  CHECK(http::get("example", "/").error().message() ==
        "'example' is not an address, expected one as '127.0.0.1:9316', '[::1]:9316' or ':9316'");
}
