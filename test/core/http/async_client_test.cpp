// SPDX-License-Identifier: Apache-2.0
// The client on the loop, with servers that send exactly the bytes of the test.
#include "core/http/async_client.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "client_here.hpp"
#include "core/http/socket_address.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

using Here = ClientHere;

}  // namespace

TEST_CASE("requests one after the other take the same connection") {
  ScriptedServer server(serve);
  Here here(server);
  CHECK(here.body_or_error({.target = "/a"}) == "1.1");
  CHECK(here.body_or_error({.method = "POST", .target = "/b", .body = "x"}) == "1.2");
  CHECK(here.body_or_error({.target = "/c"}) == "1.3");
  CHECK(here.client.connections_opened() == 1);
  CHECK(here.client.requests_sent() == 3);
}

TEST_CASE("a request names host and port, the headers it was given and the length of its body") {
  std::promise<std::string> seen;
  ScriptedServer server([&](Peer& peer) {
    seen.set_value(peer.read_request());
    peer.send(answer_with(""));
  });
  Here here(server);
  REQUIRE(here.send({.method = "PUT", .target = "/a?b=c", .headers = {{"X-A", "1"}}, .body = "{}"}));
  CHECK(seen.get_future().get() == "PUT /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                                       "\r\nX-A: 1\r\nContent-Length: 2\r\n\r\n{}");
}

TEST_CASE("requests at the same time take a connection each, and a limited number of them is kept") {
  ScriptedServer server(serve);
  Here here(server, {.kept = 2});
  std::vector<http::AsyncClient::PendingPtr> pending;
  int answers = 0;
  for (int i = 0; i < 5; ++i)
    pending.push_back(here.client.send({.target = "/", .timeout = 60s},
                                       [&](const Answer& answer) { answers += answer.has_value(); }));
  REQUIRE(here.until([&] { return answers == 5; }));
  CHECK(here.client.connections_opened() == 5);
  pending.clear();
  for (int i = 0; i < 3; ++i)
    pending.push_back(here.client.send({.target = "/", .timeout = 60s},
                                       [&](const Answer& answer) { answers += answer.has_value(); }));
  REQUIRE(here.until([&] { return answers == 8; }));
  CHECK(here.client.connections_opened() == 6);
}

TEST_CASE("beyond the bound of connections requests wait, and beyond that of waiting ones they fail") {
  ScriptedServer server(serve);
  Here here(server, {.kept = 1, .open = 1, .waiting = 2});
  std::vector<http::AsyncClient::PendingPtr> pending;
  std::vector<std::string> answers;
  for (int i = 0; i < 4; ++i)
    pending.push_back(here.client.send({.target = "/", .timeout = 60s}, [&](Answer answer) {
      answers.push_back(answer ? answer->body : answer.error().message());
    }));
  REQUIRE(here.until([&] { return answers.size() == 4; }));
  CHECK(contains(answers[0], "too many requests wait for a connection"));
  CHECK(std::vector(answers.begin() + 1, answers.end()) == std::vector<std::string>{"1.1", "1.2", "1.3"});
}

TEST_CASE("a kept connection that the server closes is forgotten") {
  std::atomic<int> closed = 0;
  ScriptedServer server([&](Peer& peer) {
    peer.read_request();
    peer.send(answer_with("bye"));
    peer.close();
    ++closed;
  });
  Here here(server);
  CHECK(here.body_or_error({.target = "/"}) == "bye");
  REQUIRE(here.until([&] { return closed == 1; }));
  CHECK(here.body_or_error({.method = "POST", .target = "/"}) == "bye");
  CHECK(here.client.connections_opened() == 2);
}

TEST_CASE("a connection without requests is closed after its time") {
  std::atomic<bool> closed = false;
  ScriptedServer server([&](Peer& peer) {
    peer.read_request();
    peer.send(answer_with("x"));
    closed = peer.read_request().empty();
  });
  Here here(server, {.idle = 1ms});
  CHECK(here.body_or_error({.target = "/"}) == "x");
  CHECK(here.until([&] { return closed.load(); }));
}

TEST_CASE("a connection is not kept when the server says so or sends more than the answer") {
  for (const std::string& answer : {answer_with("x", "Connection: close\r\n"), answer_with("x") + "more"}) {
    ScriptedServer server([&](Peer& peer) {
      while (!peer.read_request().empty()) peer.send(answer);
    });
    Here here(server);
    CHECK(here.body_or_error({.target = "/"}) == "x");
    CHECK(here.body_or_error({.target = "/"}) == "x");
    CHECK(here.client.connections_opened() == 2);
  }
}

TEST_CASE("a request on a kept connection that dies before a byte of the answer is sent once more if that is safe") {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.send(answer_with("first"));
    peer.read_request();
    if (peer.number == 1) return;  // the server ignores the second request
    peer.send(answer_with("second"));
  });
  SUBCASE("a GET is") {
    Here here(server);
    CHECK(here.body_or_error({.target = "/"}) == "first");
    CHECK(here.body_or_error({.target = "/"}) == "first");
    CHECK(here.client.requests_sent() == 3);
  }
  SUBCASE("a POST is not: it may have been done") {
    Here here(server);
    CHECK(here.body_or_error({.target = "/"}) == "first");
    const std::string why = here.body_or_error({.method = "POST", .target = "/"});
    CHECK_MESSAGE(contains(why, "no answer"), why);
    CHECK(here.client.requests_sent() == 2);
  }
}

TEST_CASE("a request is sent once more only once, and not at all on a connection of its own") {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    if (peer.number == 1) peer.send(answer_with("x"));
    if (peer.number == 1) peer.read_request();
  });
  Here here(server);
  CHECK(here.body_or_error({.target = "/"}) == "x");
  CHECK(contains(here.body_or_error({.target = "/"}), "no answer"));
  CHECK(here.client.requests_sent() == 3);
  CHECK(contains(here.body_or_error({.target = "/"}), "no answer"));
  CHECK(here.client.requests_sent() == 4);
}

TEST_CASE("an answer that comes before all of the request was taken counts") {
  ScriptedServer server([](Peer& peer) {
    peer.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    peer.wait_for_close();
  });
  Here here(server);
  const Answer answer = here.send({.method = "PUT", .target = "/", .body = std::string(16 << 20, 'x')});
  REQUIRE_MESSAGE(answer, answer.error().message());
  CHECK(answer->status == 413);
}

TEST_CASE("a large request is sent whole") {
  std::atomic<std::size_t> size = 0;
  ScriptedServer server([&](Peer& peer) {
    size = peer.read_request().size();
    peer.send(answer_with("x"));
  });
  Here here(server);
  CHECK(here.body_or_error({.method = "PUT", .target = "/", .body = std::string(16 << 20, 'x')}) == "x");
  CHECK(size > 16u << 20);
}

TEST_CASE("a server that accepts and says nothing, or goes on and on, is given up at the timeout") {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    if (peer.number == 2) peer.send(kChunked);
    while (peer.number == 2 && peer.send(chunk("x"))) {
    }
    peer.wait_for_close();
  });
  Here here(server);
  for (int i = 0; i < 2; ++i) {
    const Answer answer = here.send({.target = "/", .timeout = 30ms});
    REQUIRE_FALSE(answer);
    CHECK(answer.error().is(std::errc::timed_out));
    CHECK(contains(answer.error().message(), "no answer within 30 ms"));
  }
}

TEST_CASE("when a kept connection does not answer in time, the others are not trusted either") {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.send(answer_with("x"));
    if (peer.number <= 2) peer.wait_for_close();  // the connection stays open, but the server does not answer
    peer.read_request();
    peer.send(answer_with("y"));
  });
  Here here(server);
  std::vector<http::AsyncClient::PendingPtr> pending;
  int answers = 0;
  for (int i = 0; i < 2; ++i)
    pending.push_back(here.client.send({.target = "/", .timeout = 60s},
                                       [&](const Answer& answer) { answers += answer.has_value(); }));
  REQUIRE(here.until([&] { return answers == 2; }));
  CHECK_FALSE(here.send({.target = "/", .timeout = 30ms}));
  CHECK(here.body_or_error({.target = "/"}) == "x");
  CHECK(here.client.connections_opened() == 3);
}

TEST_CASE("without a listener the error says so") {
  ScriptedServer server(serve);
  Here here(server);
  const int port = server.port();
  http::AsyncClient unreachable(here.loop, here.workers, {.host = "127.0.0.1", .port = 1});
  std::optional<Answer> answer;
  const auto pending = unreachable.send({.target = "/", .timeout = 60s}, [&](Answer a) { answer = std::move(a); });
  REQUIRE(here.until([&] { return answer.has_value(); }));
  CHECK(answer->error().message() == "cannot connect: Connection refused");
  CHECK(port != 1);
}

TEST_CASE("a name is looked up on a worker, and an unknown one is reported") {
  ScriptedServer server(serve);
  Here here(server, {}, "localhost");
  CHECK(here.body_or_error({.target = "/"}) == "1.1");
  Here nowhere(server, {}, "no-such-host.invalid");
  CHECK(contains(nowhere.body_or_error({.target = "/"}), "cannot connect: cannot look up 'no-such-host.invalid': "));
}

TEST_CASE("a server at an IPv6 address is reached") {
  if (!http::open_tcp_listener("[::1]:0")) {
    MESSAGE("no IPv6 here");
    return;
  }
  ScriptedServer server(serve, "[::1]");
  Here here(server, {}, "::1");
  CHECK(here.body_or_error({.target = "/"}) == "1.1");
}

TEST_CASE("headers, bodies, chunks and interim answers without an end are refused") {
  const auto error_of = [](const std::string& begin, const std::string& again) {
    ScriptedServer server([&](Peer& peer) {
      peer.read_request();
      peer.send(begin);
      while (!again.empty() && peer.send(again)) {
      }
    });
    Here here(server);
    return here.body_or_error({.target = "/", .max_body = 100'000});
  };
  const std::string much(1000, 'x');
  CHECK(contains(error_of("HTTP/1.1 200 OK\r\n", "A: " + much + "\r\n"), "header limit exceeded"));
  CHECK(contains(error_of("HTTP/1.1 200 OK\r\nA: ", much), "header limit exceeded"));
  CHECK(contains(error_of("HTTP/1.1 200 OK\r\n\r\n", much),
                 "found a body of more than 100000 bytes, expected at most those"));
  CHECK(contains(error_of("HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n", much),
                 "found a body of more than 100000 bytes"));
  CHECK(contains(error_of(kChunked, chunk(much)), "found a body of more than 100000 bytes"));
  CHECK(contains(error_of(kChunked + "5;ext=", much), "found a chunk's header of more than"));
  CHECK(contains(error_of(kChunked + "0\r\n", "A: " + much + "\r\n"), "found a chunk's header of more than"));
  CHECK(contains(error_of("", "HTTP/1.1 100 Continue\r\n\r\n"), "found no answer but interim ones"));
  CHECK(contains(error_of("SSH-2.0-x\r\n", ""), "no answer: "));
  CHECK(error_of("HTTP/1.1 102 Processing\r\n\r\n" + answer_with("x"), "") == "x");
}

TEST_CASE("a request that is dropped at any step closes its connection, and nothing is called") {
  std::atomic<bool> closed = false;
  ScriptedServer server([&](Peer& peer) {
    peer.read_request();
    peer.wait_for_close();
    closed = true;
  });
  Here here(server);
  int called = 0;
  (void)here.client.send({.target = "/"}, [&](const Answer&) { ++called; });
  auto pending = here.client.send({.target = "/"}, [&](const Answer&) { ++called; });
  REQUIRE(here.until([&] { return here.client.requests_sent() == 1; }));
  pending.reset();
  CHECK(here.until([&] { return closed.load(); }));
  CHECK(called == 0);
}

TEST_CASE("new TLS options close what is kept, and what is in use is not kept") {
  std::atomic<int> closed = 0;
  ScriptedServer server([&](Peer& peer) {
    serve(peer);
    ++closed;
  });
  Here here(server);
  CHECK(here.body_or_error({.target = "/"}) == "1.1");
  here.client.renew(std::nullopt);
  CHECK(here.until([&] { return closed == 1; }));
  std::optional<Answer> answer;
  const auto pending = here.client.send({.target = "/", .timeout = 60s}, [&](Answer a) { answer = std::move(a); });
  here.client.renew(std::nullopt);
  REQUIRE(here.until([&] { return answer.has_value(); }));
  CHECK((*answer)->body == "2.1");
}
