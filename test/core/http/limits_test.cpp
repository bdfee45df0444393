// SPDX-License-Identifier: Apache-2.0
// Peers and handlers that misbehave, and the end of the server.
#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "core/http/client.hpp"
#include "core/http/socket_address.hpp"
#include "running_server.hpp"
#include "test/support/eventually.hpp"
#include "test/support/own_network.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

// A handler that reports its start and waits until it is released.
struct Gate {
  http::Routes routes() {
    http::Routes routes;
    routes.get("/wait", [this](const http::Request&) {
      begun.set_value();
      let_go.get_future().wait();
      return http::plain_text(200, "done");
    });
    return routes;
  }
  std::promise<void> begun, let_go;
};

http::Routes hello() {
  http::Routes routes;
  routes.get("/hello", [](const http::Request&) { return http::plain_text(200, "hello"); });
  return routes;
}

// Answers a POST to / with the size of its body.
http::Routes sizes() {
  http::Routes routes = hello();
  routes.post(
      "/", [](const http::Request& request) { return http::plain_text(200, std::to_string(request.body.size())); },
      1 << 20);
  return routes;
}

std::string post_header(std::size_t length, const std::string& path = "/") {
  return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

}  // namespace

TEST_CASE("a peer that sends a header forever is cut at the time for a request") {
  RunningServer server(hello(), {.read = 50ms});
  RawPeer peer(server.address());
  peer.send("GET /hello HTTP/1.1\r\n");
  CHECK(peer.read_to_end().empty());
}

TEST_CASE("a peer that sends nothing is cut at the time to be idle") {
  RunningServer server(hello(), {.idle = 50ms});
  RawPeer silent(server.address());
  CHECK(silent.read_to_end().empty());
  RawPeer served(server.address());
  served.send(get_request("/hello"));
  CHECK(served.read_to_end().ends_with("hello\n"));
}

TEST_CASE("a peer that does not read its answer is cut at the time for writing") {
  http::Routes routes;
  routes.get("/large", [](const http::Request&) { return http::plain_text(200, std::string(64 << 20, 'a')); });
  RunningServer server(std::move(routes), {.write = 100ms});
  RawPeer peer(server.address());
  peer.send(get_request("/large"));
  CHECK(eventually([&] { return server->counters().requests > 0 && server->counters().open_connections == 0; }));
  CHECK(peer.read_to_end().size() < (64u << 20));
}

TEST_CASE("connections beyond the cap are answered with 503 while all others are being answered") {
  Gate gate;
  RunningServer server(gate.routes(), {.connections = 1});
  RawPeer first(server.address());
  first.send(get_request("/wait"));
  gate.begun.get_future().wait();
  CHECK(RawPeer(server.address()).read_to_end().starts_with("HTTP/1.1 503 "));
  CHECK(server->counters().refused_connections == 1);
  gate.let_go.set_value();
  CHECK(first.read_until("done\n").ends_with("done\n"));
}

TEST_CASE("at the cap the connection that has waited longest for a request makes room for a new one") {
  RunningServer server(hello(), {.connections = 3});
  RawPeer half(server.address()), oldest(server.address()), idle(server.address());
  for (RawPeer* peer : {&half, &oldest, &idle}) {
    peer->send(get_request("/hello"));
    peer->read_until("hello\n");
  }
  half.send(get_request("/hello"));  // the server's wait for it restarts here
  half.read_until("hello\n");
  half.send("GET /hel");
  CHECK(http::get(server.address(), "/hello")->status == 200);
  CHECK(oldest.read_to_end().empty());
  RawPeer another(server.address());
  another.send(get_request("/hello"));
  CHECK(another.read_until("hello\n").ends_with("hello\n"));
  half.send("lo HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(half.read_until("hello\n").ends_with("hello\n"));
  CHECK(server->counters().refused_connections == 0);
}

TEST_CASE("a peer with many connections loses its own, not those of others") {
  RunningServer server(hello(), {.connections = 8, .connections_of_peer = 2});
  RawPeer other(server.address(), "127.0.0.2");
  other.send(get_request("/hello"));
  other.read_until("hello\n");
  std::vector<std::unique_ptr<RawPeer>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(std::make_unique<RawPeer>(server.address()));
  for (int i = 0; i < 18; ++i) CHECK(silent[static_cast<std::size_t>(i)]->read_to_end().empty());
  other.send(get_request("/hello"));
  CHECK(other.read_until("hello\n").ends_with("hello\n"));
  CHECK(server->counters().displaced_connections == 18);
}

TEST_CASE("the network of an address is the address itself, of IPv6 its first 64 bits") {
  CHECK(http::network_of("10.0.0.7") == "10.0.0.7");
  CHECK(http::network_of("fd00:1:2:3:4:5:6:7") == "fd00:1:2:3::/64");
  CHECK(http::network_of("::1") == "::/64");
  CHECK(http::network_of("") == "");
}

TEST_CASE("the addresses of one IPv6 network lose their own connections, not those of other networks" *
          doctest::skip(!OwnNetwork::is_available())) {
  const OwnNetwork network({"fd00::1/64", "fd00::2/64", "fd00::3/64", "fd00::4/64", "fd00:0:0:1::1/64"});
  RunningServer server(hello(), {.connections = 8, .connections_of_peer = 2, .connections_of_network = 3});
  const std::string address = "[fd00::1]:" + std::to_string(server->listen_tcp("[::]:0").value());
  RawPeer other(address, "[fd00:0:0:1::1]");
  std::vector<std::unique_ptr<RawPeer>> silent;
  for (const char* from : {"[fd00::1]", "[fd00::2]", "[fd00::3]", "[fd00::4]"})
    silent.push_back(std::make_unique<RawPeer>(address, from));
  CHECK(silent[0]->read_to_end().empty());
  CHECK(server->counters().displaced_connections == 1);
  for (RawPeer* peer : {&other, silent[1].get(), silent[3].get()}) {
    peer->send(get_request("/hello"));
    CHECK(peer->read_until("hello\n").ends_with("hello\n"));
  }
}

TEST_CASE("an address with many connections that are being answered loses its oldest to an address with fewer") {
  std::promise<void> let_go;
  auto gate = let_go.get_future().share();
  std::vector<std::thread> answering;  // filled by the loop thread
  http::Routes routes = hello();
  routes.get_now("/wait", [&answering, gate](const http::Request&, http::Reply reply) {
    answering.emplace_back([gate, reply = std::move(reply)] {
      gate.wait();
      reply(http::plain_text(200, "done"));
    });
  });
  RunningServer server(std::move(routes), {.connections = 4});
  std::vector<std::unique_ptr<RawPeer>> greedy;
  for (int i = 0; i < 4; ++i) {
    greedy.push_back(std::make_unique<RawPeer>(server.address(), "127.0.0.2"));
    greedy.back()->send(get_request("/wait"));
    CHECK(eventually([&] { return server->counters().requests > static_cast<std::uint64_t>(i); }));
  }
  CHECK(RawPeer(server.address(), "127.0.0.2").read_to_end().starts_with("HTTP/1.1 503 "));
  CHECK(http::get(server.address(), "/hello")->status == 200);
  CHECK(greedy[0]->read_to_end().empty());
  let_go.set_value();
  for (int i = 1; i < 4; ++i) CHECK(greedy[static_cast<std::size_t>(i)]->read_until("done\n").ends_with("done\n"));
  for (std::thread& thread : answering) thread.join();
}

TEST_CASE("when too many bytes are being received, the address with the most loses the request that began first") {
  RunningServer server(sizes(), {.request_bytes = 256 << 10});
  const auto has_received = [&](std::uint64_t bytes) {
    return eventually([&] { return server->counters().request_bytes >= bytes; });
  };
  RawPeer first(server.address(), "127.0.0.2"), second(server.address(), "127.0.0.2");
  first.send(post_header(150 << 10) + std::string(100 << 10, 'x'));
  CHECK(has_received(150 << 10));
  second.send(post_header(150 << 10) + std::string(100 << 10, 'x'));
  const std::string refusal = first.read_to_end();
  CHECK(refusal.starts_with("HTTP/1.1 429 "));
  CHECK(refusal.find("\r\nRetry-After: 1\r\n") != std::string::npos);
  CHECK(refusal.ends_with("\r\n\r\ntoo many bytes of requests are being received, try again in 1 s\n"));
  CHECK(has_received(150 << 10));
  RawPeer other(server.address(), "127.0.0.3");
  other.send(post_header(120 << 10) + std::string(120 << 10, 'x'));
  CHECK(other.read_until("122880\n").ends_with("122880\n"));
  CHECK(second.read_to_end().starts_with("HTTP/1.1 429 "));
  CHECK(server->counters().refused_requests == 2);
  CHECK(eventually([&] { return server->counters().request_bytes == 0; }));
}

TEST_CASE("a request that is larger than the memory for all is refused with 429") {
  RunningServer server(sizes(), {.request_bytes = 100 << 10});
  RawPeer peer(server.address());
  peer.send(post_header(101 << 10) + "x");
  CHECK(peer.read_to_end().starts_with("HTTP/1.1 429 "));
  CHECK(http::get(server.address(), "/hello")->status == 200);
}

TEST_CASE("when too many bytes of headers are being received, the connection with the oldest of them is closed") {
  RunningServer server(sizes(), {.header_bytes = 32 << 10, .request_bytes = 70 << 10});
  std::vector<std::unique_ptr<RawPeer>> slow;
  for (std::uint64_t i = 0; i < 3; ++i) {
    slow.push_back(std::make_unique<RawPeer>(server.address(), "127.0.0.2"));
    slow.back()->send("GET /hello HTTP/1.1\r\nHost: x\r\nA: " + std::string(20 << 10, 'a'));
    CHECK(eventually([&] { return server->counters().request_bytes > (i + 1) * (20 << 10); }));
  }
  RawPeer other(server.address(), "127.0.0.3");
  other.send(get_request("/hello", "A: " + std::string(6 << 10, 'a') + "\r\n"));
  CHECK(other.read_until("hello\n").ends_with("hello\n"));
  CHECK(slow[0]->read_to_end().empty());
  for (int i : {1, 2}) {
    slow[static_cast<std::size_t>(i)]->send("\r\n\r\n");
    CHECK(slow[static_cast<std::size_t>(i)]->read_until("hello\n").ends_with("hello\n"));
  }
}

TEST_CASE("a request counts until its handler has ended, and one that is handled is not refused") {
  std::promise<void> begun, let_go;
  http::Routes routes = sizes();
  routes.post("/wait", [&](const http::Request& request) {
    begun.set_value();
    let_go.get_future().wait();
    return http::plain_text(200, std::to_string(request.body.size()));
  });
  RunningServer server(std::move(routes), {.request_bytes = 100 << 10});
  RawPeer handled(server.address(), "127.0.0.2");
  handled.send(post_header(60 << 10, "/wait") + std::string(60 << 10, 'x'));
  begun.get_future().wait();
  RawPeer other(server.address(), "127.0.0.3");
  other.send(post_header(60 << 10) + "x");
  CHECK(other.read_to_end().starts_with("HTTP/1.1 429 "));
  let_go.set_value();
  CHECK(handled.read_until("61440\n").ends_with("61440\n"));
  CHECK(eventually([&] { return server->counters().request_bytes == 0; }));  // also while the connection stays open
}

TEST_CASE("a request that is sent ahead counts while the one before it is handled") {
  Gate gate;
  RunningServer server(gate.routes());
  RawPeer peer(server.address());
  peer.send(get_request("/wait") + "GET /wait HTTP/1.1\r\nA: " + std::string(5000, 'a'));
  gate.begun.get_future().wait();
  CHECK(eventually([&] { return server->counters().request_bytes > 5000; }));
  gate.let_go.set_value();
  peer.read_until("done\n");
  CHECK(server->counters().request_bytes > 5000);
  peer.close();
  CHECK(eventually([&] { return server->counters().request_bytes == 0; }));
}

TEST_CASE("handlers on the loop answer while all workers are busy") {
  std::promise<void> let_go;
  auto gate = let_go.get_future().share();
  http::Routes routes;
  routes.get("/wait", [gate](const http::Request&) {
    gate.wait();
    return http::plain_text(200, "done");
  });
  routes.get_now("/now", [](const http::Request&, const http::Reply& reply) { reply(http::plain_text(200, "now")); });
  RunningServer server(std::move(routes));
  std::vector<std::unique_ptr<RawPeer>> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(std::make_unique<RawPeer>(server.address()));
    waiting.back()->send(get_request("/wait"));
  }
  CHECK(eventually([&] { return server->counters().requests == 4; }));
  CHECK(http::get(server.address(), "/now")->body == "now\n");
  let_go.set_value();
}

TEST_CASE("a body that many answers share is sent as it is, and is freed with the last of them") {
  auto page = std::make_shared<const std::string>(std::string(1 << 20, 'p'));
  const std::weak_ptr<const std::string> alive = page;
  {
    http::Routes routes;
    routes.get("/page", [page](const http::Request&) {
      http::Response response;
      response.shared_body = page;
      return response;
    });
    RunningServer server(std::move(routes));
    auto answer = http::get(server.address(), "/page", 5s, {{"Accept-Encoding", "gzip"}});
    CHECK(answer->body == *page);
    CHECK_FALSE(answer->header("Content-Encoding"));
    RawPeer head(server.address());
    head.send("HEAD /page HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    CHECK(head.read_to_end().ends_with("Content-Length: 1048576\r\n\r\n"));
  }
  page.reset();
  CHECK(alive.expired());
}

TEST_CASE("the unix socket is served when the cap of TCP is reached") {
  SocketFolder folder;
  RunningServer server(hello(), {.connections = 1});
  REQUIRE(server->listen_unix(folder.path("s")));
  RawPeer first(server.address());
  first.send(get_request("/hello"));
  first.read_until("hello\n");
  CHECK(http::get(folder.path("s"), "/hello")->status == 200);
}

TEST_CASE("a handler that takes too long is answered for with 503, its answer is dropped") {
  Gate gate;
  RunningServer server(gate.routes(), {.handler = 50ms});
  auto answer = http::get(server.address(), "/wait");
  CHECK(answer->status == 503);
  gate.let_go.set_value();
}

TEST_CASE("stop lets a request in flight end and accepts no new one") {
  Gate gate;
  RunningServer server(gate.routes());
  auto answer = std::async(std::launch::async, [&] { return http::get(server.address(), "/wait"); });
  gate.begun.get_future().wait();
  std::promise<void> stopped;
  server->stop(10s, [&] { stopped.set_value(); });
  CHECK(eventually([&] { return !http::get(server.address(), "/none"); }));
  gate.let_go.set_value();
  CHECK(answer.get()->body == "done\n");
  stopped.get_future().wait();
}

TEST_CASE("stop cuts what does not end within its bound") {
  Gate gate;
  RunningServer server(gate.routes());
  auto answer = std::async(std::launch::async, [&] { return http::get(server.address(), "/wait"); });
  gate.begun.get_future().wait();
  server.stop(50ms);
  CHECK_FALSE(answer.get());
  gate.let_go.set_value();
}

TEST_CASE("stop ends idle connections at once") {
  RunningServer server(hello());
  RawPeer peer(server.address());
  peer.send(get_request("/hello"));
  peer.read_until("hello\n");
  server.stop(1h);
  CHECK(peer.read_to_end().empty());
}

TEST_CASE("a server may be destroyed while a handler runs") {
  Gate gate;
  std::future<Result<http::ClientResponse>> answer;
  {
    RunningServer server(gate.routes());
    answer = std::async(std::launch::async, [&] { return http::get(server.address(), "/wait"); });
    gate.begun.get_future().wait();
    server.stop(0s);
    CHECK_FALSE(answer.get());
    gate.let_go.set_value();
  }
}
