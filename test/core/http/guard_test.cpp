// SPDX-License-Identifier: Apache-2.0
// Guards over real sockets: which requests reach their handler, and the cost of a refused request.
#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "running_server.hpp"
#include "test/support/eventually.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct Named : http::RequestClient {
  explicit Named(std::string_view of) : name(of) {}
  std::string name;
};

// Refuses requests without the header Pass. The handler gets the header's value as the client.
void pass_by_header(http::Request& request, const http::Decide& decide) {
  const auto pass = request.header("Pass");
  if (!pass) return decide(http::plain_text(401, "no"));
  request.client = std::make_shared<const Named>(*pass);
  decide(std::nullopt);
}

http::Routes sizes(http::Guard guard, std::size_t max_body = 1 << 20) {
  http::Routes routes;
  routes.all_below(
      "/",
      [](const http::Request& request, const http::Reply& reply) {
        const auto* client = static_cast<const Named*>(request.client.get());
        reply(http::plain_text(200, (client ? client->name : "none") + " " + std::to_string(request.body.size())));
      },
      max_body, std::move(guard));
  return routes;
}

std::string put(std::size_t length, const std::string& headers = {}) {
  return "PUT /x HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(length) + "\r\n" + headers + "\r\n";
}

}  // namespace

TEST_CASE("a guard refuses a request by its header, before the body has come") {
  RunningServer server(sizes(pass_by_header));
  RawPeer peer(server.address());
  peer.send(put(1 << 20));
  const std::string answer = peer.read_to_end();
  CHECK(has(answer, "401 Unauthorized"));
  CHECK(has(answer, "Connection: close"));
}

TEST_CASE("a body that is larger than the route's limit is refused before the guard is asked") {
  std::atomic<int> asked = 0;
  RunningServer server(sizes(
      [&](http::Request&, const http::Decide& decide) {
        ++asked;
        decide(std::nullopt);
      },
      1000));
  RawPeer peer(server.address());
  peer.send(put(1001));
  CHECK(has(peer.read_to_end(), "413"));
  CHECK(asked == 0);
}

TEST_CASE("a refused request with a body that has come leaves the connection to the next one") {
  RunningServer server(sizes(pass_by_header));
  RawPeer peer(server.address());
  peer.send(put(3) + "abc" + put(2, "Pass: me\r\nConnection: close\r\n") + "de");
  const std::string answers = peer.read_to_end();
  CHECK(has(answers, "401 Unauthorized"));
  CHECK(answers.ends_with("me 2\n"));
}

TEST_CASE("nothing more is read while a guard decides, and the whole body afterwards") {
  constexpr std::size_t kBody = 32 << 20;  // more than the socket buffers hold
  std::promise<http::Decide> asked;
  RunningServer server(sizes([&](http::Request&, const http::Decide& decide) { asked.set_value(decide); }, kBody));
  RawPeer peer(server.address());
  std::atomic<bool> is_sent = false;
  std::thread sender([&] {
    peer.send(put(kBody, "Connection: close\r\n"));
    peer.send(std::string(kBody, 'x'));
    is_sent = true;
  });
  const http::Decide decide = asked.get_future().get();
  CHECK_FALSE(is_sent);
  server.run_on_loop([decide] { decide(std::nullopt); });
  sender.join();
  CHECK(peer.read_to_end().ends_with("none " + std::to_string(kBody) + "\n"));
}

TEST_CASE("a guard that does not decide in time is answered with a refusal, and its later decision has no effect") {
  std::promise<http::Decide> asked;
  RunningServer server(sizes([&](http::Request&, const http::Decide& decide) { asked.set_value(decide); }),
                       {.handler = 50ms});
  RawPeer peer(server.address());
  peer.send(put(0));
  CHECK(has(peer.read_to_end(), "503 Service Unavailable"));
  server.run_on_loop([decide = asked.get_future().get()] { decide(std::nullopt); });
  CHECK(eventually([&] { return server->counters().open_connections == 0; }));
}

TEST_CASE("a guard may decide for a connection that is gone") {
  std::promise<http::Decide> asked;
  RunningServer server(sizes([&](http::Request&, const http::Decide& decide) { asked.set_value(decide); }));
  {
    RawPeer peer(server.address());
    peer.send(put(0));
  }
  server.run_on_loop([decide = asked.get_future().get()] { decide(http::plain_text(401, "no")); });
  CHECK(eventually([&] { return server->counters().open_connections == 0; }));
}

TEST_CASE("a route's own guard counts instead of that of all routes") {
  http::Routes routes = sizes([](http::Request&, const http::Decide& decide) { decide(std::nullopt); });
  routes.get("/own", [](const http::Request&) { return http::plain_text(200, "own"); });
  routes.set_guard(pass_by_header);
  RunningServer server(std::move(routes));
  RawPeer peer(server.address());
  peer.send(get_request("/own") + get_request("/other", "Connection: close\r\n"));
  const std::string answers = peer.read_to_end();
  CHECK(has(answers, "401 Unauthorized"));
  CHECK(answers.ends_with("none 0\n"));
}
