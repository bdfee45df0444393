// SPDX-License-Identifier: Apache-2.0
#include "core/http/body_stream.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "core/http/client.hpp"
#include "running_server.hpp"
#include "test/support/eventually.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

// Pieces that the test provides, shared with the test's thread.
class Given final : public http::BodyStream {
 public:
  struct Shared {
    std::mutex mutex;
    std::vector<Piece> pieces;
    std::function<void()> wake;
    std::atomic<int> slow = 0, gone = 0;

    void give(Piece piece) {
      std::function<void()> waiting;
      {
        const std::scoped_lock lock(mutex);
        pieces.push_back(std::move(piece));
        waiting = std::exchange(wake, {});
      }
      if (waiting) waiting();
    }
    void give(std::string text) { give(Piece{State::piece, std::move(text)}); }
    void end() { give(Piece{State::ended}); }
    bool is_waited_for() {
      const std::scoped_lock lock(mutex);
      return static_cast<bool>(wake);
    }
  };

  explicit Given(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  ~Given() override { ++shared_->gone; }

  Piece next(const std::function<void()>& wake) override {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->pieces.empty()) {
      shared_->wake = wake;
      return {};
    }
    Piece piece = std::move(shared_->pieces.front());
    shared_->pieces.erase(shared_->pieces.begin());
    return piece;
  }
  void on_slow_peer() override { ++shared_->slow; }

 private:
  std::shared_ptr<Shared> shared_;
};

struct StreamingServer {
  std::shared_ptr<Given::Shared> given = std::make_shared<Given::Shared>();
  RunningServer server;

  explicit StreamingServer(http::Limits limits = {}) : server(routes(), limits) {}

  http::Routes routes() {
    http::Routes routes;
    routes.get("/short", [](const http::Request&) { return http::plain_text(200, "short"); });
    routes.all_below("/stream/", [given = given](const http::Request&, const http::Reply& reply) {
      http::Response response;
      response.stream = std::make_shared<Given>(given);
      reply(std::move(response));
    });
    return routes;
  }
};

}  // namespace

TEST_CASE("a streamed body is sent in chunks, each as soon as it is there") {
  StreamingServer s;
  RawPeer peer(s.server.address());
  peer.send(get_request("/stream/x"));
  CHECK(peer.read_until("\r\n\r\n").find("Transfer-Encoding: chunked") != std::string::npos);
  s.given->give("one\n");
  CHECK(peer.read_until("one\n\r\n") == "4\r\none\n\r\n");
  s.given->give(
      http::BodyStream::Piece{http::BodyStream::State::piece, "two,", std::make_shared<std::string>("shared")});
  CHECK(peer.read_until("shared\r\n") == "a\r\ntwo,shared\r\n");
  s.given->end();
  CHECK(peer.read_until("0\r\n\r\n") == "0\r\n\r\n");
  peer.send(get_request("/short"));
  CHECK(peer.read_until("short\n").find("200 OK") != std::string::npos);
}

TEST_CASE("a client reads a streamed body of many pieces whole") {
  StreamingServer s;
  for (int i = 0; i < 2'000; ++i) s.given->give("0123456789");
  s.given->end();
  const auto answer = http::get(s.server.address(), "/stream/x");
  REQUIRE(answer);
  CHECK(answer->body.size() == 20'000);
}

TEST_CASE("a stream ends with its peer") {
  StreamingServer s;
  RawPeer peer(s.server.address());
  peer.send(get_request("/stream/x"));
  REQUIRE(eventually([&] { return s.given->is_waited_for(); }));
  peer.close();
  CHECK(eventually([&] { return s.given->gone == 1; }));
  s.given->give("late");
}

// The routes own the objects that `wake` uses.
TEST_CASE("a stream that is woken after its server's end is not heard") {
  std::shared_ptr<Given::Shared> given;
  {
    StreamingServer s;
    given = s.given;
    RawPeer peer(s.server.address());
    peer.send(get_request("/stream/x"));
    REQUIRE(eventually([&] { return given->is_waited_for(); }));
  }
  CHECK(given.use_count() == 1);
  given->give("late");
}

TEST_CASE("a peer that does not take a piece in time is cut, and the stream hears of it") {
  http::Limits limits;
  limits.write = 100ms;
  limits.send_buffer_bytes = 4 << 10;
  StreamingServer s(limits);
  RawPeer peer(s.server.address());
  peer.send(get_request("/stream/x"));
  s.given->give(std::string(64 << 20, 'a'));
  CHECK(eventually([&] { return s.given->gone == 1; }));
  CHECK(s.given->slow == 1);
}

TEST_CASE("a peer that sends without end while a stream waits is cut") {
  StreamingServer s;
  RawPeer peer(s.server.address());
  peer.send(get_request("/stream/x"));
  REQUIRE(eventually([&] { return s.given->is_waited_for(); }));
  peer.send(std::string(1 << 20, 'x'));
  CHECK(eventually([&] { return s.given->gone == 1; }));
}

TEST_CASE("a server that stops ends its streams whole") {
  StreamingServer s;
  RawPeer peer(s.server.address());
  peer.send(get_request("/stream/x"));
  REQUIRE(eventually([&] { return s.given->is_waited_for(); }));
  s.server.stop(1min);
  CHECK(peer.read_to_end().ends_with("0\r\n\r\n"));
}

TEST_CASE("a HEAD request gets the header of a stream alone") {
  StreamingServer s;
  RawPeer peer(s.server.address());
  peer.send("HEAD /stream/x HTTP/1.1\r\nHost: x\r\n\r\n" + get_request("/short"));
  const std::string text = peer.read_until("short\n");
  CHECK(text.find("Transfer-Encoding: chunked\r\n\r\nHTTP/1.1 200") != std::string::npos);
}

TEST_CASE("all methods reach a route below a prefix") {
  StreamingServer s;
  for (const char* method : {"PUT", "PATCH", "DELETE", "POST"}) {
    RawPeer peer(s.server.address());
    peer.send(std::string(method) + " /stream/x HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    CHECK(peer.read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
  }
  RawPeer peer(s.server.address());
  peer.send("PUT /short HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  CHECK(peer.read_until("\r\n\r\n").starts_with("HTTP/1.1 405"));
}
