// SPDX-License-Identifier: Apache-2.0
// Answers that the client on the loop passes on in pieces.
#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <string>

#include "client_here.hpp"
#include "core/http/async_client.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

using Here = ClientHere;

struct Streamed {
  std::string body;
  std::optional<Answer> end;
  http::AsyncClient::PendingPtr pending;

  Streamed(Here& here, http::AsyncRequest request) {
    pending = here.client.stream(
        Here::patient(std::move(request)),
        [this](std::string_view piece) -> Result<void> {
          body += piece;
          return {};
        },
        [this](Answer answer) { end = std::move(answer); });
  }
  std::string why() const {
    return !end ? "goes on" : *end ? "status " + std::to_string((*end)->status) : end->error().message();
  }
};

}  // namespace

TEST_CASE("the pieces of a stream come as they come, chunk by chunk") {
  std::atomic<int> allowed = 0;
  ScriptedServer server([&](Peer& peer) {
    peer.read_request();
    peer.send(kChunked + chunk("one"));
    allowed.wait(0);
    peer.send("3\r");
    peer.send("\ntw");
    peer.send("o\r\n0\r\n\r\n");
    peer.wait_for_close();
  });
  Here here(server);
  Streamed stream(here, {.target = "/"});
  REQUIRE(here.until([&] { return stream.body == "one"; }));
  CHECK_FALSE(stream.end);
  allowed = 1;
  allowed.notify_one();
  REQUIRE(here.until([&] { return stream.end.has_value(); }));
  CHECK(stream.body == "onetwo");
  CHECK(stream.why() == "status 200");
  CHECK((*stream.end)->body.empty());
}

TEST_CASE("an answer that comes byte by byte is the same answer") {
  for (const std::string& body :
       {std::string("0\r\n\r\n"), chunk("ab") + "0\r\n\r\n", chunk("ab") + "0\r\nA: b\r\n\r\n"}) {
    ScriptedServer server([&](Peer& peer) {
      peer.read_request();
      for (const char byte : kChunked + body) peer.send({&byte, 1});
      peer.read_request();
      peer.send(answer_with("next"));
    });
    Here here(server);
    CHECK(here.body_or_error({.target = "/"}) == (body.starts_with("0") ? "" : "ab"));
    CHECK(here.body_or_error({.target = "/"}) == "next");
  }
}

TEST_CASE("a stream that is cut in the middle of a chunk is an error, and so is one between two") {
  for (const std::string& begun : {std::string("5\r\nab"), chunk("ab"), std::string("5")}) {
    ScriptedServer server([&](Peer& peer) {
      peer.read_request();
      peer.send(kChunked + begun);
    });
    Here here(server);
    Streamed stream(here, {.target = "/"});
    REQUIRE(here.until([&] { return stream.end.has_value(); }));
    CHECK_MESSAGE(contains(stream.why(), "the answer broke off"), stream.why());
  }
}

TEST_CASE("a stream in which nothing comes for its silence is ended; its timeout is over with its header") {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.send(kChunked + chunk("a"));
    peer.wait_for_close();
  });
  Here here(server);
  Streamed stream(here, {.target = "/", .timeout = 59s, .silence = 50ms});
  REQUIRE(here.until([&] { return stream.end.has_value(); }));
  CHECK(stream.body == "a");
  CHECK_MESSAGE(contains(stream.why(), "nothing came for 50 ms"), stream.why());
}

TEST_CASE("a stream that is refused gives the answer and no piece") {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\ngone");
    peer.wait_for_close();
  });
  Here here(server);
  Streamed stream(here, {.target = "/"});
  REQUIRE(here.until([&] { return stream.end.has_value(); }));
  CHECK(stream.why() == "status 410");
  CHECK((*stream.end)->body == "gone");
  CHECK(stream.body.empty());
}

TEST_CASE("a callback may drop its own request, also in the middle of a piece, and is not called again") {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.send(kChunked + chunk("a") + chunk("b"));
    peer.wait_for_close();
  });
  Here here(server);
  int pieces = 0, ends = 0;
  http::AsyncClient::PendingPtr pending;
  pending = here.client.stream(
      {.target = "/", .timeout = 60s},
      [&](std::string_view) -> Result<void> {
        ++pieces;
        pending.reset();
        return {};
      },
      [&](const Answer&) { ++ends; });
  REQUIRE(here.until([&] { return pieces > 0; }));
  ScriptedServer other(serve);
  Here next(other);
  bool answered = false;
  pending = next.client.send({.target = "/", .timeout = 60s}, [&](const Answer&) {
    pending.reset();
    answered = true;
  });
  REQUIRE(next.until([&] { return answered; }));
  CHECK(pieces == 1);
  CHECK(ends == 0);
}
