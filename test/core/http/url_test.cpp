// SPDX-License-Identifier: Apache-2.0
#include "core/http/url.hpp"

#include <doctest/doctest.h>

using namespace koord::http;

TEST_CASE("a target is a decoded path and its parameters in order") {
  auto target = parse_target("/api/v1/query%2F?metric=a+b&agg=p95&agg=%C3%A4&flag&=");
  REQUIRE_FALSE(target);
  target = parse_target("/api/v1/query%2F?metric=a+b&&agg=p95&agg=%C3%A4&flag");
  REQUIRE(target);
  CHECK(target->path == "/api/v1/query/");
  CHECK(target->query.get("metric") == "a b");
  CHECK(target->query.get_all("agg") == std::vector<std::string_view>{"p95", "ä"});
  CHECK(target->query.get("flag") == "");
  CHECK_FALSE(target->query.get("none"));
}

TEST_CASE("a plus is a space in a query and itself in a path") {
  CHECK(parse_target("/a+b?c=d+e")->path == "/a+b");
  CHECK(parse_target("/a+b?c=d+e")->query.get("c") == "d e");
}

TEST_CASE("a value may hold an equals sign") { CHECK(parse_query("a=b=c")->get("a") == "b=c"); }

TEST_CASE("a broken escape, a NUL and a target without a slash are refused") {
  for (const char* bad : {"", "a", "*", "http://x/", "/%", "/%4", "/%4g", "/%00", "/?a=%", "/?%=a", "/?=a"})
    CHECK_FALSE(parse_target(bad));
}

TEST_CASE("a query has at most 64 parameters") {
  std::string query;
  for (std::size_t i = 0; i < kMaxQueryParameters; ++i) query += "a=b&";
  CHECK(parse_query(query));
  CHECK_FALSE(parse_query(query + "a=b"));
}
