// SPDX-License-Identifier: Apache-2.0
#include "core/api/interference_request.hpp"

#include <doctest/doctest.h>

#include "core/base/manual_clock.hpp"

using namespace koord;
using namespace koord::api;
using namespace std::chrono_literals;
using State = InterferenceRequest::State;

namespace {

const ManualClock kClock;
const metric::Labels kCart = {
    {"pod_uid", "u1"}, {"pod_namespace", "shop"}, {"pod_name", "cart"}, {"container_name", "app"}};

Result<InterferenceRequest> parse(const std::string& text) {
  return parse_interference_request(*http::parse_query(text), kClock);
}
Result<MatrixRequest> parse_matrix(const std::string& text) { return parse_matrix_request(*http::parse_query(text)); }

}  // namespace

TEST_CASE("verdicts are asked for by pod, namespace, container, resource, kind, state, time and number") {
  const auto request = parse(
      "pod=shop/cart&namespace=shop&container=app&resource=blkio&kind=self-quota&state=ended&since=10m&until=5m&limit=3");
  REQUIRE(request);
  CHECK(request->victim.pod == "shop/cart");
  CHECK(request->victim.name_space == "shop");
  CHECK(request->victim.container == "app");
  CHECK(request->resource == verdict::Resource::blkio);
  CHECK(request->kind == verdict::Kind::self_quota);
  CHECK(request->state == State::ended);
  CHECK(request->since == kClock.now() - 10min);
  CHECK(request->until == kClock.now() - 5min);
  CHECK(request->limit == 3);
}

TEST_CASE("without a time the query is for active verdicts, with a time also for ended ones") {
  CHECK(parse("")->state == State::standing);
  CHECK(parse("since=1h")->state == State::any);
  CHECK(parse("since=1h&state=standing")->state == State::standing);
  CHECK(parse("")->limit == 100);
}

TEST_CASE("a pod is named by uid, NAMESPACE/NAME or NAME, a container outside of pods by its whole name") {
  for (const char* name : {"", "u1", "cart", "shop/cart", "shop/cart/app"}) {
    CAPTURE(name);
    CHECK(VictimFilter{name, "", ""}.accepts(kCart, "shop/cart/app"));
  }
  for (const char* name : {"u", "car", "cart/app", "shop/", "/cart", "batch/cart", "app"}) {
    CAPTURE(name);
    CHECK_FALSE(VictimFilter{name, "", ""}.accepts(kCart, "shop/cart/app"));
  }
  CHECK(VictimFilter{"demo/victim", "", ""}.accepts({{"container_name", "demo/victim"}}, "demo/victim"));
  CHECK_FALSE(VictimFilter{"/", "", ""}.accepts({{"container_name", "demo"}}, "demo"));
  CHECK_FALSE(VictimFilter{"", "batch", ""}.accepts(kCart, "shop/cart/app"));
  CHECK_FALSE(VictimFilter{"", "", "main"}.accepts(kCart, "shop/cart/app"));
}

TEST_CASE("a parameter of verdicts that is wrong is named, with what is expected") {
  for (const auto& row :
       {std::pair("colour=red", "unknown parameter 'colour', known are pod, namespace"),
        {"resource=disk", "resource 'disk' is not one of cpu, blkio, memory, cache"},
        {"kind=bad", "kind 'bad' is not one of interfered, self-quota, self-threads, self-memory-limit"},
        {"state=over", "state 'over' is not one of standing, ended, any"},
        {"since=yesterday", "since 'yesterday' is neither"},
        {"until=-5m", "until '-5m' is neither"},
        {"since=1m&until=1h", "since is later than until"},
        {"since=nan", "since 'nan' is neither"},
        {"limit=0", "limit '0' is not a number from 1 to 1000"},
        {"limit=1001", "limit '1001' is not a number from 1 to 1000"},
        {"limit=-1", "limit '-1'"}}) {
    CAPTURE(row.first);
    const auto request = parse(row.first);
    REQUIRE_FALSE(request);
    CHECK_MESSAGE(request.error().message().find(row.second) != std::string::npos, request.error().message());
  }
  CHECK(parse_matrix("since=1h").error().message().find("unknown parameter 'since'") != std::string::npos);
  CHECK(parse_matrix("limit=10001").error().message() == "limit '10001' is not a number from 1 to 10000");
  CHECK_FALSE(parse_matrix("resource=net"));
  CHECK(parse_matrix("pod=cart&limit=5")->limit == 5);
}
