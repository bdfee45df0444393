// SPDX-License-Identifier: Apache-2.0
#include "core/http/server.hpp"

#include <doctest/doctest.h>

#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/http/client.hpp"
#include "core/http/gzip.hpp"
#include "running_server.hpp"

using namespace koord;
using namespace koord::test;

namespace {

http::Routes routes() {
  http::Routes routes;
  routes.get("/hello", [](const http::Request& request) {
    return http::plain_text(200, "hello " + std::string(request.query.get("name").value_or("you")));
  });
  routes.get("/large", [](const http::Request&) { return http::plain_text(200, std::string(1 << 20, 'a')); });
  routes.get("/throw", [](const http::Request&) -> http::Response { throw std::runtime_error("no luck"); });
  routes.post(
      "/echo", [](const http::Request& request) { return http::plain_text(200, request.body); }, 1024);
  return routes;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Returns the answer to these bytes, from the status line to the end of the connection.
std::string answer_to(const std::string& bytes) {
  RunningServer server(routes());
  RawPeer peer(server.address());
  peer.send(bytes);
  return peer.read_to_end();
}

}  // namespace

TEST_CASE("a handler gets the decoded query and its answer comes back") {
  RunningServer server(routes());
  auto answer = http::get(server.address(), "/hello?name=a%20b+c%26");
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(answer->body == "hello a b c&\n");
  CHECK(answer->header("content-type") == "text/plain; charset=utf-8");
  CHECK(server->counters().requests == 1);
}

TEST_CASE("a slow handler answers later, from another thread, and keeps no worker meanwhile") {
  http::Routes served = routes();
  std::promise<http::Reply> asked;
  served.post_slow("/things/{id}/mend", [&](const http::Request& request, const http::Reply& reply) {
    reply(http::plain_text(200, *http::part_of_path("/things/{id}/mend", request.path)));
  });
  served.post_slow("/later", [&](const http::Request&, const http::Reply& reply) { asked.set_value(reply); });
  RunningServer server(std::move(served));
  CHECK(http::post(server.address(), "/things/a.b-1/mend", "")->body == "a.b-1\n");
  std::thread later([&] {
    http::Reply reply = asked.get_future().get();
    CHECK(http::get(server.address(), "/hello")->status == 200);
    reply(http::plain_text(200, "late"));
  });
  CHECK(http::post(server.address(), "/later", "")->body == "late\n");
  later.join();
}

TEST_CASE("a part of a path is not empty and has no slash") {
  CHECK(http::part_of_path("/a/{x}/b", "/a/1/b") == "1");
  for (const char* path : {"/a//b", "/a/1/2/b", "/a/b", "/a/1/c", "/a/1/b/", ""})
    CHECK_FALSE(http::part_of_path("/a/{x}/b", path));
  CHECK_FALSE(http::part_of_path("/a", "/a"));
}

TEST_CASE("a path that is not served is answered with 404") {
  RunningServer server(routes());
  CHECK(http::get(server.address(), "/nowhere")->status == 404);
  CHECK(http::get(server.address(), "/hello/")->body == "nothing is served at '/hello/'\n");
  CHECK(server->counters().errors == 2);
}

TEST_CASE("a method that a path does not have is answered with 405 and those that it has") {
  RunningServer server(routes());
  auto answer = http::post(server.address(), "/hello", "x");
  CHECK(answer->status == 405);
  CHECK(answer->header("Allow") == "GET, HEAD");
  CHECK(http::get(server.address(), "/echo")->header("Allow") == "POST");
  CHECK(has(answer_to("DELETE /hello HTTP/1.1\r\nConnection: close\r\n\r\n"), "HTTP/1.1 405 "));
}

TEST_CASE("HEAD is answered with the headers of GET and no body") {
  std::string answer = answer_to("HEAD /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(has(answer, "HTTP/1.1 200 OK\r\n"));
  CHECK(has(answer, "Content-Length: 10\r\n"));
  CHECK(answer.ends_with("\r\n\r\n"));
}

TEST_CASE("a posted body reaches the handler") {
  RunningServer server(routes());
  CHECK(http::post(server.address(), "/echo", "some text")->body == "some text\n");
  RawPeer peer(server.address());
  peer.send("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: "
            "close\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  CHECK(peer.read_to_end().ends_with("\r\n\r\nabcde\n"));
}

TEST_CASE("a body beyond the limit of its route is answered with 413, with a length or chunked") {
  RunningServer server(routes());
  CHECK(http::post(server.address(), "/echo", std::string(1024, 'x'))->status == 200);
  CHECK(http::post(server.address(), "/echo", std::string(1025, 'x'))->status == 413);
  CHECK(has(answer_to("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n" + std::string(0x800, 'x') +
                      "\r\n0\r\n\r\n"),
            "HTTP/1.1 413 "));
}

TEST_CASE("a header beyond the limit is answered with 431") {
  CHECK(has(answer_to(get_request("/hello", "X-Long: " + std::string(9000, 'x') + "\r\n")), "HTTP/1.1 431 "));
  CHECK(has(answer_to("GET /" + std::string(100'000, 'x')), "HTTP/1.1 431 "));
}

TEST_CASE("bytes that are no request are answered with 400") {
  CHECK(has(answer_to("hello there\r\n\r\n"), "HTTP/1.1 400 "));
  CHECK(has(answer_to(get_request("/a%zz", "Connection: close\r\n")), "HTTP/1.1 400 "));
  CHECK(has(answer_to(get_request("hello", "Connection: close\r\n")), "HTTP/1.1 400 "));
  CHECK(has(answer_to("POST /echo HTTP/1.1\r\nContent-Length: x\r\n\r\n"), "HTTP/1.1 400 "));
}

TEST_CASE("a handler that throws is answered with 500 and the exception's text") {
  RunningServer server(routes());
  auto answer = http::get(server.address(), "/throw");
  CHECK(answer->status == 500);
  CHECK(answer->body == "the handler failed: no luck\n");
}

TEST_CASE("a slow handler that throws is answered with 500 and the exception's text, unless it has answered before") {
  http::Routes served;
  served.post_slow("/throw", [](const http::Request&, const http::Reply&) { throw std::runtime_error("no luck"); });
  served.post_slow("/answer-and-throw", [](const http::Request&, const http::Reply& reply) {
    reply(http::plain_text(200, "fine"));
    throw std::runtime_error("too late");
  });
  RunningServer server(std::move(served));
  auto answer = http::post(server.address(), "/throw", "");
  CHECK(answer->status == 500);
  CHECK(answer->body == "the handler failed: no luck\n");
  CHECK(http::post(server.address(), "/answer-and-throw", "")->body == "fine\n");
  CHECK(http::post(server.address(), "/throw", "")->status == 500);  // the workers still work
}

TEST_CASE("requests of one connection are answered in their order, also when sent at once") {
  std::string answer = answer_to(get_request("/hello?name=1") + get_request("/hello?name=2") +
                                 get_request("/hello?name=3", "Connection: close\r\n"));
  std::size_t first = answer.find("hello 1"), second = answer.find("hello 2"), third = answer.find("hello 3");
  CHECK(first < second);
  CHECK(second < third);
  CHECK(third != std::string::npos);
}

TEST_CASE("bytes behind the body of a request are the next one") {
  std::string answer =
      answer_to("POST /echo HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc" + get_request("/hello", "Connection: close\r\n"));
  CHECK(answer.find("\r\n\r\nabc\n") < answer.find("\r\n\r\nhello you\n"));
  CHECK(answer.ends_with("hello you\n"));
}

TEST_CASE("a connection of HTTP/1.0 ends with its answer") {
  std::string answer = answer_to("GET /hello HTTP/1.0\r\n\r\n");
  CHECK(has(answer, "\r\nConnection: close\r\n"));
  CHECK(answer.ends_with("hello you\n"));
}

TEST_CASE("a request may come byte by byte") {
  RunningServer server(routes());
  RawPeer peer(server.address());
  for (char c : get_request("/hello", "Connection: close\r\n")) peer.send({&c, 1});
  CHECK(peer.read_to_end().ends_with("hello you\n"));
}

TEST_CASE("an answer of more than a socket holds arrives whole") {
  http::Routes routes;
  routes.get("/huge", [](const http::Request&) { return http::plain_text(200, std::string(32 << 20, 'a')); });
  RunningServer server(std::move(routes));
  CHECK(http::get(server.address(), "/huge")->body == std::string(32 << 20, 'a') + "\n");
}

TEST_CASE("a large answer is packed for clients that take gzip, and unpacks to the same") {
  RunningServer server(routes());
  auto plain = http::get(server.address(), "/large");
  auto packed = http::get(server.address(), "/large", std::chrono::seconds(5), {{"Accept-Encoding", "br, gzip"}});
  CHECK_FALSE(plain->header("Content-Encoding"));
  CHECK(packed->header("Content-Encoding") == "gzip");
  CHECK(packed->header("Vary") == "Accept-Encoding");
  CHECK(packed->body.size() * 50 < plain->body.size());
  CHECK(*http::gunzip(packed->body, 2 << 20) == plain->body);
}

TEST_CASE("a small answer is never packed") {
  RunningServer server(routes());
  auto answer = http::get(server.address(), "/hello", std::chrono::seconds(5), {{"Accept-Encoding", "gzip"}});
  CHECK(answer->body == "hello you\n");
}

TEST_CASE("many peers at once each get their own answer") {
  RunningServer server(routes());
  std::vector<std::jthread> peers;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) {
    peers.emplace_back([&, name = std::to_string(i)] {
      for (int n = 0; n < 20; ++n) {
        auto answer = http::get(server.address(), "/hello?name=" + name);
        if (answer && answer->body == "hello " + name + "\n") ++right;
      }
    });
  }
  peers.clear();
  CHECK(right == 160);
}
