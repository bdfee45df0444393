// SPDX-License-Identifier: Apache-2.0
// An agent's client writes the object of its own node only.
#include <doctest/doctest.h>

#include "api_fixture.hpp"
#include "core/aggregated/api.hpp"

using namespace koord;
using namespace koord::test;
using http::Method;

TEST_CASE("a node writes its own object and no other") {
  ApiFixture f;
  const auto status = [&](Method method, const std::string& target, const std::string& body) {
    return f.send(method, target, body).status;
  };
  f.report("b", "{}");
  SUBCASE("by the name of the node in its token") {
    f.identity = {.user = "system:serviceaccount:koordetector:agent",
                  .extra = {{"authentication.kubernetes.io/node-name", {"a"}}}};
  }
  SUBCASE("by its user") { f.identity = {.user = "system:node:a"}; }
  CHECK(status(Method::put, "/a/status", node_metric("a", "{}")) == 201);
  CHECK(status(Method::put, "/b/status", node_metric("b", "{}")) == 403);
  CHECK(status(Method::put, "/a/status", node_metric("b", "{}")) == 400);
  CHECK(status(Method::post, "", node_metric("c", "{}")) == 403);
  CHECK(status(Method::remove, "/b", "") == 403);
  CHECK(status(Method::remove, "", "") == 403);
  CHECK(f.send(Method::patch, "/b", "{}", {{"Content-Type", "application/merge-patch+json"}}).status == 403);
  CHECK(f.get("/b").status == 200);
  CHECK(f.api.counters().other_nodes == 5);
}

TEST_CASE("a client with two names of nodes, and an agent without one, write nothing") {
  ApiFixture f;
  f.identity = {.user = "x", .extra = {{"authentication.kubernetes.io/node-name", {"a", "b"}}}};
  CHECK(f.report("a", "{}").status == 403);
  aggregated::Api strict(f.store, f.clock, nullptr, {.agent_user = "system:serviceaccount:k:agent"});
  http::Request put;
  put.method = Method::put;
  put.path = std::string(kNodeMetrics) + "/a/status";
  put.body = node_metric("a", "{}");
  CHECK(strict.answer(put, {.user = "system:serviceaccount:k:agent"}).status == 403);
  CHECK(strict.answer(put, {.user = "admin"}).status == 201);
}
