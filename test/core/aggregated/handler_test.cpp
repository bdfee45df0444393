// SPDX-License-Identifier: Apache-2.0
// The API over real sockets, with raw requests.
#include "core/aggregated/handler.hpp"

#include <doctest/doctest.h>

#include "api_fixture.hpp"
#include "core/http/client.hpp"
#include "running_api.hpp"
#include "test/core/http/running_server.hpp"
#include "test/support/eventually.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

std::string request_text(const std::string& method, const std::string& target, const std::string& body = {},
                         const std::string& headers = {}) {
  return method + " " + std::string(kNodeMetrics) + target +
         " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body;
}

std::string answer_to(const RunningApi& api, const std::string& request) {
  RawPeer peer(api.address());
  peer.send(request);
  return peer.read_until("}\n");
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a report over the network is listed and watched") {
  RunningApi api(kEpoch);
  RawPeer watcher(api.address());
  watcher.send(request_text("GET", "?watch=true"));
  CHECK(has(watcher.read_until("\r\n\r\n"), "Transfer-Encoding: chunked"));
  REQUIRE(eventually([&] { return api.api().counters().watches.open == 1; }));
  CHECK(has(answer_to(api, request_text("PUT", "/a/status", node_metric("a", usage_status(5)))), "HTTP/1.1 201"));
  CHECK(has(watcher.read_until("}\n"), R"("type":"ADDED")"));
  const auto list = http::get(api.address(), std::string(kNodeMetrics));
  REQUIRE(list);
  CHECK(json_list(json_of(list->body), "items").size() == 1);
}

TEST_CASE("a connection serves further requests after a streamed list") {
  RunningApi api(kEpoch);
  RawPeer peer(api.address());
  for (int i = 0; i < 3; ++i) {
    peer.send(request_text("GET", ""));
    CHECK(has(peer.read_until("\r\n0\r\n\r\n"), "NodeMetricList"));
  }
}

TEST_CASE("a watch ends with its last chunk, and so does the connection's wait") {
  RunningApi api(kEpoch);
  RawPeer peer(api.address());
  peer.send(request_text("GET", "?watch=true&timeoutSeconds=1"));
  CHECK(has(peer.read_until("0\r\n\r\n"), "200 OK"));
  peer.send(request_text("GET", "/none"));
  CHECK(has(peer.read_until("}\n"), "404 Not Found"));
}

TEST_CASE("the watches of a client that is gone are forgotten") {
  RunningApi api(kEpoch);
  RawPeer peer(api.address());
  peer.send(request_text("GET", "?watch=true"));
  REQUIRE(eventually([&] { return api.api().counters().watches.open == 1; }));
  peer.close();
  CHECK(eventually([&] { return api.api().counters().watches.open == 0; }));
}

TEST_CASE("a watcher that does not read is disconnected, and others continue") {
  http::Limits limits;
  limits.write = 200ms;
  limits.send_buffer_bytes = 8 << 10;
  RunningApi api(kEpoch, "127.0.0.1:0", limits);
  RawPeer slow(api.address()), quick(api.address());
  slow.send(request_text("GET", "?watch=true"));
  quick.send(request_text("GET", "?watch=true"));
  REQUIRE(eventually([&] { return api.api().counters().watches.open == 2; }));
  std::thread reader([&] { quick.read_until("}\n\r\n0\r\n\r\n"); });
  const std::string extensions = std::string(200'000, 'x');
  int round = 0;
  CHECK(eventually([&] {
    const std::string pods =
        R"({"podsMetric":[{"name":")" + std::to_string(++round) + R"(","extensions":{"x":")" + extensions + "\"}}]}";
    answer_to(api, request_text("PUT", "/a/status", node_metric("a", pods), "Prefer: return=minimal\r\n"));
    return api.api().counters().watches.slow == 1;
  }));
  CHECK(api.api().counters().watches.open == 1);
  api.store().close();
  reader.join();
}

TEST_CASE("a request without authentication is 401, one without a right 403, health is open") {
  RunningApi api(kEpoch);
  CHECK(has(answer_to(api, request_text("GET", "/a", "", "X-Test-User: unknown\r\n")), "HTTP/1.1 401"));
  CHECK(has(answer_to(api, request_text("GET", "?watch=true", "", "X-Test-User: reader\r\n")), "HTTP/1.1 403"));
  CHECK(has(answer_to(api, request_text("GET", "/a", "", "X-Test-User: reader\r\n")), "HTTP/1.1 404"));
  CHECK(http::get(api.address(), "/readyz")->status == 200);
  RawPeer peer(api.address());
  peer.send("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Test-User: unknown\r\n\r\n");
  CHECK(has(peer.read_until("ok"), "HTTP/1.1 200"));
}

TEST_CASE("a client with the right to the resource learns what is wrong with its request") {
  RunningApi api(kEpoch);
  struct Wrong {
    const char *method, *target, *body, *headers, *status;
  };
  for (const Wrong& wrong : std::initializer_list<Wrong>{
           {"GET", "?limit=few", "", "", "400"},
           {"GET", "?labelSelector=a==b==c,,", "", "", "400"},
           {"GET", "?continue=x", "", "", "400"},
           {"GET", "?resourceVersionMatch=Exact", "", "", "422"},
           {"GET", "?watch=true&sendInitialEvents=true", "", "", "422"},
           {"GET", "/a", "", "Accept: application/yaml\r\n", "406"},
           {"PUT", "/a/status", "{}", "Accept: text/html\r\n", "406"},
           {"PUT", "/a/status", "{", "", "400"},
           {"PUT", "/a/status", "[]", "", "400"},
           {"PUT", "/a/status?dryRun=Some", "{}", "", "400"},
           {"PUT", "/a/status", "a: 1", "Content-Type: application/yaml\r\n", "415"},
           {"PUT", "/a/status", "x", "Content-Encoding: br\r\n", "415"},
           {"PUT", "/a/status", "x", "Content-Encoding: gzip\r\n", "400"},
           {"PUT", "/a/status", R"({"status":{"updateTime":5}})", "", "422"},
           {"PATCH", "/a", "{}", "Content-Type: application/strategic-merge-patch+json\r\n", "415"},
           {"POST", "", R"({"metadata":{"name":"A b"}})", "", "422"},
           {"GET", "/a/other", "", "", "404"},
           {"GET", "/a/status/more", "", "", "404"},
           {"GET", "/", "", "", "404"},
           {"PUT", "", "{}", "", "405"},
           {"POST", "/a", "{}", "", "405"},
           {"DELETE", "/a/status", "", "", "405"}}) {
    CAPTURE(wrong.method);
    CAPTURE(wrong.target);
    CAPTURE(wrong.body);
    CAPTURE(wrong.headers);
    const std::string answer = answer_to(api, request_text(wrong.method, wrong.target, wrong.body,
                                                           std::string("X-Test-User: agent\r\n") + wrong.headers));
    CHECK(answer.substr(0, 12) == std::string("HTTP/1.1 ") + wrong.status);
    CHECK(has(answer, R"("kind":"Status")"));
  }
  RawPeer peer(api.address());
  peer.send("GET /apis/metrics.koordetector.sh/v1alpha1/pods HTTP/1.1\r\nHost: x\r\nX-Test-User: agent\r\n\r\n");
  CHECK(has(peer.read_until("}\n"), "HTTP/1.1 404"));
}

TEST_CASE("a client without the right learns nothing else of its request") {
  RunningApi api(kEpoch);
  for (const char* target : {"/a/status?dryRun=Some", "/a/status", "/a"})
    CHECK(has(answer_to(api, request_text("PUT", target, "{", "X-Test-User: reader\r\nAccept: text/html\r\n")),
              "HTTP/1.1 403"));
  CHECK(has(answer_to(api, request_text("PUT", "/a", "{", "X-Test-User: unknown\r\nAccept: text/html\r\n")),
            "HTTP/1.1 401"));
}

TEST_CASE("a body above the limit is refused before it is read") {
  RunningApi api(kEpoch);
  RawPeer peer(api.address());
  peer.send("PUT " + std::string(kNodeMetrics) + "/a/status HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n");
  CHECK(has(peer.read_until("\n\r\n"), "HTTP/1.1 413"));
}

TEST_CASE("a client that is not authenticated is refused before its body has come") {
  RunningApi api(kEpoch);
  RawPeer peer(api.address());
  peer.send("PUT " + std::string(kNodeMetrics) +
            "/a/status HTTP/1.1\r\nHost: x\r\nX-Test-User: unknown\r\nContent-Length: 3000000\r\n\r\n");
  CHECK(has(peer.read_until("}\n"), "HTTP/1.1 401"));
}

TEST_CASE("a read with a body is refused before its body has come, of health and of objects") {
  RunningApi api(kEpoch);
  for (const std::string& path : {std::string("/healthz"), std::string("/version"), std::string(kNodeMetrics) + "/a"})
    for (const char* body : {"Content-Length: 3000000", "Transfer-Encoding: chunked"}) {
      CAPTURE(path);
      RawPeer peer(api.address());
      peer.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n" + body + "\r\n\r\n");
      CHECK(has(peer.read_until("}\n"), "HTTP/1.1 400"));
    }
}

TEST_CASE("a client without the right is refused before its body has come") {
  RunningApi api(kEpoch);
  RawPeer peer(api.address());
  peer.send("PUT " + std::string(kNodeMetrics) +
            "/a/status HTTP/1.1\r\nHost: x\r\nX-Test-User: reader\r\nContent-Length: 3000000\r\n\r\n");
  CHECK(has(peer.read_until("}\n"), "HTTP/1.1 403"));
}
