// SPDX-License-Identifier: Apache-2.0
#include "core/ui/relay.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <thread>

#include "core/base/unique_fd.hpp"
#include "core/http/socket_address.hpp"
#include "test/core/http/running_server.hpp"

using namespace koord;
using namespace koord::test;

namespace {

http::Routes large_answers() {
  http::Routes routes;
  routes.get("/name", [](const http::Request&) { return http::Response{.body = "the agent"}; });
  routes.get("/large", [](const http::Request&) { return http::Response{.body = std::string(4u << 20, 'x')}; });
  return routes;
}

// A relay between the test's socket, in the role of kubectl, and an agent's socket.
struct RelayFixture {
  explicit RelayFixture(http::Limits limits = {}) : agent(large_answers(), limits) {
    std::signal(SIGPIPE, SIG_IGN);
    REQUIRE(agent->listen_unix(folder.path("agent.sock")));
    std::array<int, 2> ends{-1, -1};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    kubectl.reset(ends[0]);
    its.reset(ends[1]);
    thread = std::thread([this] {
      done = ui::relay(its.get(), its.get(), folder.path("agent.sock"));
      its.reset();
    });
  }
  ~RelayFixture() {
    kubectl.reset();
    thread.join();
  }
  void send(std::string_view bytes) const {
    CHECK(::send(kubectl.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  }
  std::string read_until(std::string_view end) const {
    std::string text;
    std::array<char, 4096> block;
    while (end.empty() || !text.ends_with(end)) {
      const ssize_t n = ::recv(kubectl.get(), block.data(), block.size(), 0);
      if (n <= 0) break;
      text.append(block.data(), static_cast<std::size_t>(n));
    }
    return text;
  }

  SocketFolder folder;
  RunningServer agent;
  UniqueFd kubectl, its;
  Result<void> done;
  std::thread thread;
};

}  // namespace

TEST_CASE("a relay carries several requests over one connection") {
  RelayFixture fixture;
  for (int i = 0; i < 3; ++i) {
    fixture.send(get_request("/name"));
    CHECK(fixture.read_until("the agent").starts_with("HTTP/1.1 200"));
  }
  fixture.send(get_request("/large"));
  CHECK(fixture.read_until(std::string(1000, 'x')).starts_with("HTTP/1.1 200"));
}

TEST_CASE("the end of the input ends the relay after the answer") {
  RelayFixture fixture;
  fixture.send(get_request("/name", "Connection: close\r\n"));
  ::shutdown(fixture.kubectl.get(), SHUT_WR);
  CHECK(fixture.read_until("").ends_with("the agent"));
}

TEST_CASE("a relay ends when the agent closes an idle connection") {
  RelayFixture fixture({.idle = std::chrono::milliseconds(20), .read = std::chrono::milliseconds(20)});
  CHECK(fixture.read_until("").find("HTTP/1.1 200") == std::string::npos);
  fixture.thread.join();
  CHECK(fixture.done);
  fixture.thread = std::thread([] {});
}

TEST_CASE("after the end of its input a relay does not wait forever for an agent that hangs") {
  SocketFolder folder;
  const std::string path = folder.path("hanging.sock");
  const http::SocketAddress address = *http::unix_address(path);
  const UniqueFd agent(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));  // it never accepts
  REQUIRE(::bind(agent.get(), address.get(), address.length) == 0);
  REQUIRE(::listen(agent.get(), 0) == 0);
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Result<void> done = ui::relay(nothing.get(), -1, path, std::chrono::milliseconds(1));
  REQUIRE_FALSE(done);
  CHECK(done.error().is(std::errc::timed_out));
  // The first connection still waits, and the limit allows no other.
  const Result<void> full = ui::relay(nothing.get(), -1, path);
  REQUIRE_FALSE(full);
  CHECK(full.error().is(std::errc::resource_unavailable_try_again));
}

TEST_CASE("a relay ends when the reader of its output has ended") {
  RelayFixture fixture;
  fixture.send(get_request("/large"));
  ::shutdown(fixture.kubectl.get(), SHUT_RD);
  fixture.thread.join();
  CHECK(fixture.done);
  fixture.thread = std::thread([] {});
}

TEST_CASE("a relay to a socket without a listener fails with its path") {
  const Result<void> done = ui::relay(-1, -1, "/nonexistent/agent.sock");
  REQUIRE_FALSE(done);
  CHECK(done.error().message() ==
        "cannot connect to the agent's socket '/nonexistent/agent.sock': No such file or directory");
}
