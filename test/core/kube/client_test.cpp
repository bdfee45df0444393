// SPDX-License-Identifier: Apache-2.0
// The client against the test cluster's API server: TLS, who we are, watches, and what goes wrong.
#include "core/kube/client.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "loop_here.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord;
using namespace koord::kube;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

const std::string kNode = "/api/v1/nodes/test-node";
const std::string kSlos = "/apis/slo.koordinator.sh/v1alpha1/nodeslos";

// One cluster for all tests of this file, without the faults of the one before.
TestCluster& cluster() {
  static TestCluster one;
  return one;
}

ConnectionConfig config() {
  auto found = find_config(cluster().kubeconfig());
  REQUIRE_MESSAGE(found, found.error().message());
  return *found;
}

struct Here : LoopHere {
  explicit Here(ConnectionConfig which = config(), ClientOptions options = {.requests_per_second = 1000, .burst = 1000})
      : client(loop, workers, clock, std::move(which), options) {
    cluster().clear_faults();
  }

  Result<Reply> send(Call call) {
    std::optional<Result<Reply>> reply;
    call.timeout = std::max<Duration>(call.timeout, 10s);
    const auto pending = client.send(std::move(call), [&](Result<Reply> r) { reply = std::move(r); });
    REQUIRE(until([&] { return reply.has_value(); }));
    return std::move(*reply);
  }
  Result<Reply> get(const std::string& target) { return send({.verb = Verb::get, .target = target, .timeout = 60s}); }
  // Of the answer, or why there is none.
  std::string said(const std::string& target) {
    const Result<Reply> reply = get(target);
    return reply ? std::to_string(reply->status) : reply.error().message();
  }

  SystemClock clock;
  Client client;
};

// A watch and what came of it.
struct Watched {
  std::vector<std::string> lines;
  std::optional<Result<Reply>> end;
  Client::PendingPtr pending;

  Watched(Client& client, const std::string& target, Call call = {}) {
    call.verb = Verb::watch;
    call.target = target;
    call.timeout = 60s;
    pending = client.watch(std::move(call), {.on_line = [this](std::string_view line) { lines.emplace_back(line); },
                                             .on_end = [this](Result<Reply> reply) { end = std::move(reply); }});
  }
  std::string ending() const { return !end ? "goes on" : *end ? std::to_string((*end)->status) + (*end)->body : end->error().message(); }
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an object is asked for with the token of the kubeconfig's file") {
  Here here;
  const Result<Reply> reply = here.get(kNode);
  REQUIRE_MESSAGE(reply, reply.error().message());
  CHECK(reply->status == 200);
  CHECK(contains(reply->body, "test-node"));
  const auto requests = cluster().requests(R"({"path": "/nodes/test-node", "user_agent": "^koordetector/[0-9.]+$"})");
  REQUIRE_FALSE(requests.empty());
  CHECK(requests.back().token > 0);
}

TEST_CASE("a watch gives what changes, a line each, until it is dropped") {
  Here here;
  Watched watched(here.client, kSlos + "?watch=true");
  REQUIRE(here.until([&] { return !cluster().requests(R"({"verb": "watch", "kind": "NodeSLO", "open": true})").empty(); }));
  for (const char* name : {"a", "b"}) cluster().put(R"({"kind": "NodeSLO", "metadata": {"name": ")" + std::string(name) + R"("}})");
  REQUIRE(here.until([&] { return watched.lines.size() >= 2; }));
  CHECK(contains(watched.lines[0], R"("ADDED")"));
  CHECK(contains(watched.lines[1], R"("b")"));
  watched.pending.reset();
  CHECK_FALSE(watched.end);
}
