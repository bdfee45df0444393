// SPDX-License-Identifier: Apache-2.0
#include "core/ui/access.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace koord;

namespace {

constexpr std::uint16_t kPort = 9317;
constexpr const char* kHost = "127.0.0.1:9317";

http::Request request(const std::string& path, http::Headers headers = {{"Host", kHost}}) {
  http::Request request;
  request.path = path;
  request.headers = std::move(headers);
  return request;
}

http::Request with_token(const std::string& token) {
  http::Request of_link = request("/");
  of_link.query = http::Query({{"token", token}});
  return of_link;
}

unsigned status(ui::Access& access, const http::Request& one) {
  const std::optional<http::Response> refusal = access.check(one);
  return refusal ? refusal->status : 200;
}

// Returns the value of Set-Cookie; empty if this header is missing.
std::string cookie_of(const std::optional<http::Response>& answer) {
  if (!answer) return {};
  for (const auto& [name, value] : answer->headers)
    if (name == "Set-Cookie") return value;
  return {};
}

// A viewer with a session. `cookie` is sent as by a browser.
struct SignedIn {
  SignedIn() {
    const std::string set = cookie_of(access.check(with_token(*access.new_token())));
    cookie = set.substr(0, set.find(';'));
  }
  http::Request get(const std::string& path, http::Headers more = {}) const {
    http::Request one = request(path, {{"Host", kHost}, {"Cookie", cookie}});
    one.headers.insert(one.headers.end(), more.begin(), more.end());
    return one;
  }
  ui::Access access{kPort};
  std::string cookie;
};

}  // namespace

TEST_CASE("without a session every path is 401") {
  ui::Access access(kPort);
  for (const char* path : {"/", "/main.js", "/api/v1/node", "/sql", "/nothing"}) {
    CAPTURE(path);
    CHECK(status(access, request(path)) == 401);
  }
}

TEST_CASE("a token starts one session, with a cookie that scripts and other sites do not get") {
  ui::Access access(kPort);
  const std::string token = *access.new_token();
  const std::optional<http::Response> answer = access.check(with_token(token));
  REQUIRE(answer);
  CHECK(answer->status == 200);
  const std::string cookie = cookie_of(answer);
  CHECK(cookie.starts_with("koordctl-ui-9317="));
  CHECK(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"));
  CHECK(cookie.find(token) == std::string::npos);
  CHECK(access.sessions_started() == 1);
}

TEST_CASE(
    "a link is answered with a page that loads the next one itself: a redirect from another site would have no cookie") {
  ui::Access access(kPort);
  const std::optional<http::Response> answer = access.check(with_token(*access.new_token()));
  REQUIRE(answer);
  CHECK(std::count(answer->headers.begin(), answer->headers.end(),
                   std::pair<std::string, std::string>{"Refresh", "0;url=/"}) == 1);
  CHECK(answer->content_type == "text/html; charset=utf-8");
  CHECK(answer->body.find("<a href=\"/\">") != std::string::npos);
  CHECK(answer->body.find("script") == std::string::npos);
}

TEST_CASE("a used token is refused, and so are an empty one, a part of one and one that was never made") {
  ui::Access access(kPort);
  const std::string token = *access.new_token();
  for (const std::string& wrong : {std::string(), token.substr(1), token + "a", std::string(64, 'a')}) {
    CAPTURE(wrong);
    CHECK(status(access, with_token(wrong)) == 401);
  }
  CHECK(status(access, with_token(token)) == 200);
  CHECK(status(access, with_token(token)) == 401);
  CHECK(access.sessions_started() == 1);
}

TEST_CASE("a HEAD request, as of a preview of links, does not use a token up") {
  ui::Access access(kPort);
  http::Request head = with_token(*access.new_token());
  head.method = http::Method::head;
  CHECK(status(access, head) == 401);
  head.method = http::Method::get;
  CHECK(status(access, head) == 200);
  CHECK(access.sessions_started() == 1);
}

TEST_CASE("tokens are long and never the same") {
  ui::Access access(kPort);
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(*access.new_token());
  CHECK(tokens.size() == 100);
  CHECK(tokens.begin()->size() == 64);
}

TEST_CASE("only the newest four tokens are valid, and the newest eight sessions") {
  ui::Access access(kPort);
  const std::string oldest = *access.new_token();
  for (int i = 0; i < 4; ++i) REQUIRE(access.new_token());
  CHECK(status(access, with_token(oldest)) == 401);

  SignedIn first;
  for (int i = 0; i < 8; ++i) CHECK(status(first.access, with_token(*first.access.new_token())) == 200);
  CHECK(status(first.access, first.get("/")) == 401);
}

TEST_CASE("the cookie of a session admits it; a wrong, cut or differently named one does not") {
  SignedIn viewer;
  CHECK(status(viewer.access, viewer.get("/api/v1/node")) == 200);
  const std::string& cookie = viewer.cookie;
  for (const std::string& wrong : {cookie.substr(0, cookie.size() - 1), cookie + "a", "x" + cookie,
                                   "koordctl-ui-9318" + cookie.substr(16), std::string("koordctl-ui-9317=")}) {
    CAPTURE(wrong);
    CHECK(status(viewer.access, request("/", {{"Host", kHost}, {"Cookie", wrong}})) == 401);
  }
  CHECK(status(viewer.access, request("/", {{"host", kHost}, {"cookie", "a=b; " + cookie + "; c=d"}})) == 200);
}

TEST_CASE("a Host that is not a name of loopback with this port is 403, also with a session (DNS rebinding)") {
  SignedIn viewer;
  for (const char* host :
       {"evil.example:9317", "evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:9317.evil.example",
        "127.0.0.1.evil.example:9317", "10.0.0.1:9317", "127.0.0.256:9317", "", "localhost.:9317"}) {
    CAPTURE(host);
    CHECK(status(viewer.access, request("/", {{"Host", host}, {"Cookie", viewer.cookie}})) == 403);
  }
  CHECK(status(viewer.access, request("/", {{"Cookie", viewer.cookie}})) == 403);
  CHECK(status(viewer.access, viewer.get("/", {{"Host", "evil.example:9317"}})) == 403);
  for (const char* host : {"localhost:9317", "[::1]:9317", "127.0.0.2:9317"}) {
    CAPTURE(host);
    CHECK(status(viewer.access, request("/", {{"Host", host}, {"Cookie", viewer.cookie}})) == 200);
  }
}

TEST_CASE("a request that another origin's page sends is 403, also one of another port of this machine") {
  SignedIn viewer;
  for (const char* origin : {"http://evil.example", "null", "http://127.0.0.1:8000", "https://127.0.0.1:9317", ""}) {
    CAPTURE(origin);
    CHECK(status(viewer.access, viewer.get("/api/v1/node", {{"Origin", origin}})) == 403);
  }
  CHECK(status(viewer.access, viewer.get("/api/v1/node", {{"Origin", "http://127.0.0.1:9317"}})) == 200);
  for (const char* site : {"cross-site", "same-site"}) {
    CAPTURE(site);
    CHECK(status(viewer.access, viewer.get("/api/v1/node", {{"Sec-Fetch-Site", site}})) == 403);
    CHECK(status(viewer.access, viewer.get("/main.js", {{"Sec-Fetch-Site", site}, {"Sec-Fetch-Mode", "no-cors"}})) ==
          403);
    CHECK(status(viewer.access, viewer.get("/", {{"Sec-Fetch-Site", site}, {"Sec-Fetch-Mode", "navigate"}})) == 200);
  }
  CHECK(status(viewer.access, viewer.get("/api/v1/node", {{"Sec-Fetch-Site", "same-origin"}})) == 200);
}

TEST_CASE("everything but GET and HEAD is 405, with and without a session") {
  SignedIn viewer;
  for (const http::Method method : {http::Method::post, http::Method::put, http::Method::patch, http::Method::remove}) {
    http::Request one = viewer.get("/api/v1/restore");
    one.method = method;
    CHECK(status(viewer.access, one) == 405);
    one.headers.pop_back();
    CHECK(status(viewer.access, one) == 405);
  }
}
