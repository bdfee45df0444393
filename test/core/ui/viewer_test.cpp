// SPDX-License-Identifier: Apache-2.0
#include "core/ui/viewer.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <thread>
#include <vector>

#include "core/http/client.hpp"
#include "core/http/gzip.hpp"
#include "core/http/socket_address.hpp"
#include "core/ui/page_files.hpp"
#include "core/ui/serve.hpp"
#include "test/core/http/running_server.hpp"
#include "test/support/eventually.hpp"

using namespace koord;
using namespace koord::test;

namespace {

// An agent's socket that answers with the request's path and parameters, and counts requests other than GET.
http::Routes echo_routes() {
  http::Routes routes;
  routes.all_below("/", [](const http::Request& request, const http::Reply& reply) {
    std::string text = request.method == http::Method::get ? "GET " : "other ";
    text += request.path;
    for (const auto& [name, value] : request.query.parameters()) text += " [" + name + "=" + value + "]";
    reply(
        {.status = request.path == "/api/v1/missing" ? 404u : 200u, .content_type = "application/json", .body = text});
  });
  return routes;
}

// A viewer that admits every client.
struct ViewerFixture {
  ViewerFixture() { REQUIRE(agent->listen_unix(folder.path("agent.sock"))); }
  http::ClientResponse get(const std::string& target, const http::Headers& headers = {}) const {
    Result<http::ClientResponse> answer = http::get(viewer.address(), target, std::chrono::seconds(20), headers);
    REQUIRE(answer);
    return *answer;
  }

  SocketFolder folder;
  RunningServer agent{echo_routes()};
  std::unique_ptr<ui::Source> source = ui::local_source(folder.path("agent.sock"), folder.path("none.db"));
  RunningServer viewer{ui::viewer_routes(*source, [](const http::Request&) { return std::nullopt; })};
};

const ui::PageFile& page_file(std::string_view path) {
  for (const ui::PageFile& file : ui::page_files())
    if (file.path == path) return file;
  FAIL("no such file: ", path);
  return ui::page_files().front();
}

}  // namespace

TEST_CASE("the viewer passes a read of the data API on as it is, and its answer back") {
  ViewerFixture fixture;
  const http::ClientResponse answer = fixture.get("/api/v1/query?metric=a%26b%3Dc&label=k%3Dv&label=x");
  CHECK(answer.status == 200);
  CHECK(answer.body == "GET /api/v1/query [metric=a&b=c] [label=k=v] [label=x]");
  CHECK(answer.header("Content-Type") == "application/json");
  CHECK(fixture.get("/api/v1/missing").status == 404);
}

TEST_CASE("no spelling of a path leads out of the data API or to a file of the machine") {
  ViewerFixture fixture;
  for (const char* target : {"/api/v1/../../metrics", "/api/v1/%2e%2e/%2e%2e/metrics", "/api/v1/..%2f..%2fmetrics",
                             "/api/v1//node", "/api/v1/node%0d%0aX:%20y", "/api/v1/a%20b", "/api/v1/n%3fx"}) {
    CAPTURE(target);
    CHECK(fixture.get(target).status == 404);
  }
  for (const char* target : {"/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/etc/passwd",
                             "/metrics", "/api/v2/node", "/index.html/", "/page/index.html"}) {
    CAPTURE(target);
    const http::ClientResponse answer = fixture.get(target);
    CHECK(answer.status == 404);
    CHECK(answer.body.find("root:") == std::string::npos);
    CHECK(answer.body.find("GET") == std::string::npos);
  }
}

TEST_CASE("each answer of the viewer forbids scripts, styles and frames from elsewhere, and is not kept") {
  ViewerFixture fixture;
  for (const char* target : {"/", "/main.js", "/api/v1/node", "/api/v1/missing", "/sql", "/nothing"}) {
    CAPTURE(target);
    const http::ClientResponse answer = fixture.get(target);
    const std::string policy(answer.header("Content-Security-Policy").value_or(""));
    CHECK(policy.find("default-src 'none'; script-src 'self'; style-src 'self';") == 0);
    CHECK(policy.find("frame-ancestors 'none'") != policy.npos);
    CHECK(policy.find("unsafe") == policy.npos);
    CHECK(answer.header("X-Content-Type-Options") == "nosniff");
    CHECK(answer.header("Referrer-Policy") == "no-referrer");
    CHECK(answer.header("Cross-Origin-Resource-Policy") == "same-origin");
    CHECK(answer.header("Cache-Control") == "no-store");
  }
}

TEST_CASE("a refusal has the same headers") {
  const auto source = ui::local_source({}, {});
  RunningServer viewer(
      ui::viewer_routes(*source, [](const http::Request&) { return std::optional(http::plain_text(401, "no")); }));
  const Result<http::ClientResponse> answer = http::get(viewer.address(), "/");
  REQUIRE(answer);
  CHECK(answer->status == 401);
  CHECK(answer->header("Content-Security-Policy"));
}

TEST_CASE("files of the page come compressed or not, as the client takes them") {
  ViewerFixture fixture;
  const http::ClientResponse plain = fixture.get("/");
  CHECK(plain.header("Content-Type") == "text/html; charset=utf-8");
  CHECK(plain.body.starts_with("<!doctype html>"));
  CHECK(*http::gunzip(page_file("/index.html").gzip, 1 << 20) == plain.body);
  const http::ClientResponse packed = fixture.get("/main.js", {{"Accept-Encoding", "gzip"}});
  CHECK(packed.header("Content-Encoding") == "gzip");
  CHECK(packed.body == page_file("/main.js").gzip);
  CHECK(packed.header("Content-Type") == "text/javascript; charset=utf-8");
}

TEST_CASE("the page has neither inline scripts nor inline styles nor an address elsewhere") {
  for (const ui::PageFile& file : ui::page_files()) {
    CAPTURE(file.path);
    const std::string text = *http::gunzip(file.gzip, 4u << 20);
    if (file.path == "/chart.min.js") continue;
    for (const char* part :
         {"https://", "//cdn", "innerHTML", "insertAdjacentHTML", "outerHTML", "eval(", "document.write"})
      CHECK_MESSAGE(text.find(part) == text.npos, part);
    if (!file.path.ends_with(".html")) continue;
    for (const char* part : {"<style", " style=", " onclick=", " onload=", "<script>"})
      CHECK_MESSAGE(text.find(part) == text.npos, part);
  }
}

TEST_CASE("an agent that does not answer is an error with its reason") {
  const auto source = ui::local_source("/nonexistent/agent.sock", {});
  RunningServer viewer(ui::viewer_routes(*source, [](const http::Request&) { return std::nullopt; }));
  const Result<http::ClientResponse> answer = http::get(viewer.address(), "/api/v1/node");
  REQUIRE(answer);
  CHECK(answer->status == 502);
  CHECK(answer->body.starts_with("{\"error\":\"the agent does not answer: "));
}

TEST_CASE("the page's files are served while all workers wait for the agent") {
  SocketFolder folder;
  const UniqueFd silent = *http::open_unix_listener(folder.path("silent.sock"));
  const auto source = ui::local_source(folder.path("silent.sock"), {});
  RunningServer viewer(ui::viewer_routes(*source, [](const http::Request&) { return std::nullopt; }));
  std::vector<std::thread> waiting;
  for (int i = 0; i < 8; ++i)
    waiting.emplace_back([&] {
      const Result<http::ClientResponse> answer = http::get(viewer.address(), "/api/v1/node", std::chrono::minutes(1));
      CHECK((answer && answer->status == 502));
    });
  REQUIRE(eventually([&] { return viewer->counters().open_connections == 8; }));
  for (const ui::PageFile& file : ui::page_files()) {
    CAPTURE(file.path);
    const Result<http::ClientResponse> answer = http::get(viewer.address(), file.path, std::chrono::seconds(20));
    REQUIRE(answer);
    CHECK(answer->status == 200);
  }
  source->close();
  for (std::thread& thread : waiting) thread.join();
}

TEST_CASE("SQL without a metric cache, and a limit that is not a number, are errors") {
  ViewerFixture fixture;
  CHECK(fixture.get("/sql?query=SELECT%201").status == 400);
  for (const char* limit : {"0", "-1", "10001", "x", "99999999999999999999"}) {
    CAPTURE(limit);
    CHECK(fixture.get("/sql?query=SELECT%201&limit=" + std::string(limit)).body ==
          "{\"error\":\"limit is not a number from 1 to 10000\"}\n");
  }
}

TEST_CASE("an address that is not of loopback is refused") {
  for (const char* address : {"0.0.0.0:0", ":0", "[::]:0", "10.0.0.1:80", "192.168.1.1:9317", "128.0.0.1:0"}) {
    CAPTURE(address);
    CHECK_FALSE(ui::check_loopback(address));
  }
  for (const char* address : {"127.0.0.1:0", "localhost:9317", "[::1]:0", "127.1.2.3:9"}) {
    CAPTURE(address);
    CHECK(ui::check_loopback(address));
  }
  CHECK_FALSE(ui::check_loopback("node.example:80"));
}
