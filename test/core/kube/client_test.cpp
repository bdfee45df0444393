// SPDX-License-Identifier: Apache-2.0
// The client with the test cluster's API server: TLS, authentication, watches, and failures.
#include "core/kube/client.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "test/support/loop_here.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord;
using namespace koord::kube;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

const std::string kNode = "/api/v1/nodes/test-node";
const std::string kSlos = "/apis/slo.koordinator.sh/v1alpha1/nodeslos";

// Returns one cluster for all tests of this file, without the faults of the last test.
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
  // Returns the status or text of the answer, or the error.
  std::string status_or_error(const std::string& target) {
    const Result<Reply> reply = get(target);
    return reply ? std::to_string(reply->status) : reply.error().message();
  }

  SystemClock clock;
  Client client;
};

std::int64_t newest_request() {
  const auto all = cluster().requests();
  return all.empty() ? -1 : all.back().index;
}

// A watch and its results.
struct Watched {
  const std::int64_t after = newest_request();
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
  // Returns whether the server has begun to answer.
  bool runs() const { return token() != 0; }
  int token() const {
    const auto open =
        cluster().requests(R"({"verb": "watch", "open": true, "status": 200, "after": )" + std::to_string(after) + "}");
    return open.empty() ? 0 : open.front().token;
  }
  std::string ending() const {
    return !end ? "goes on" : *end ? std::to_string((*end)->status) + (*end)->body : end->error().message();
  }
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an object is asked for with the token of the kubeconfig's file") {
  Here here;
  const Result<Reply> reply = here.get(kNode);
  REQUIRE_MESSAGE(reply, reply.error().message());
  CHECK(reply->status == 200);
  CHECK(contains(reply->body, "test-node"));
  const auto requests = cluster().requests(R"({"path": "/nodes/test-node", "user_agent": "^kube-[a-z-]+/[0-9.]+$"})");
  REQUIRE_FALSE(requests.empty());
  CHECK(requests.back().token > 0);
}

TEST_CASE("a watch gives what changes, a line each, until it is dropped") {
  Here here;
  Watched watched(here.client, kSlos + "?watch=true");
  REQUIRE(here.until([&] { return watched.runs(); }));
  for (const char* name : {"a", "b"})
    cluster().put(R"({"kind": "NodeSLO", "metadata": {"name": ")" + std::string(name) + R"("}})");
  REQUIRE(here.until([&] { return watched.lines.size() >= 2; }));
  CHECK(contains(watched.lines[0], R"("ADDED")"));
  CHECK(contains(watched.lines[1], R"("b")"));
  watched.pending.reset();
  CHECK_FALSE(watched.end);
}

TEST_CASE("requests one after the other take the same connection, and watches have theirs") {
  Here here;
  for (int i = 0; i < 5; ++i) REQUIRE(here.status_or_error(kNode) == "200");
  CHECK(here.client.use().connections == 1);
  CHECK(here.client.use().requests == 5);
  Watched watched(here.client, kSlos + "?watch=true");
  CHECK(here.status_or_error(kNode) == "200");
  CHECK(here.client.use().connections == 2);
}

TEST_CASE("a client certificate and authorities in the kubeconfig's text authenticate both sides") {
  auto with_certificate = find_config(cluster().kubeconfig_with_certificate());
  REQUIRE_MESSAGE(with_certificate, with_certificate.error().message());
  CHECK(with_certificate->token_file.empty());
  Here here(*with_certificate);
  CHECK(here.status_or_error(kNode) == "200");
  ConnectionConfig as_text = *with_certificate;
  for (Pem* pem : {&as_text.ca, &as_text.certificate, &as_text.key}) {
    if (!pem->file.empty()) *pem = {.text = read_file(pem->file).value()};
  }
  Here text(as_text);
  CHECK(text.status_or_error(kNode) == "200");
}

TEST_CASE("a pod's service account is enough") {
  for (const auto& [name, value] : cluster().environment()) ::setenv(name.c_str(), value.c_str(), 1);
  auto found = in_cluster_config(cluster().service_account());
  REQUIRE_MESSAGE(found, found.error().message());
  Here here(*found);
  CHECK(here.status_or_error(kNode) == "200");
}

TEST_CASE("a server that another authority vouches for, or for another name, is refused, and nothing is sent") {
  const auto before = cluster().requests().size();
  ConnectionConfig untrusting = config();
  untrusting.ca.file = cluster().kubelet_ca();
  if (read_file(cluster().kubelet_ca()).value() == read_file(config().ca.file).value()) untrusting.ca = {};
  Here here(untrusting);
  const std::string why = here.status_or_error(kNode);
  CHECK_MESSAGE(
      contains(why, "/api/v1/nodes/test-node': cannot connect: TLS: the certificate of '127.0.0.1' is not trusted: "),
      why);
  ConnectionConfig misnamed = config();
  misnamed.server_name = "elsewhere.test";
  Here other(misnamed);
  CHECK(
      contains(other.status_or_error(kNode), "the certificate of 'elsewhere.test' is not trusted: hostname mismatch"));
  CHECK(here.client.use().failures == 1);
  const auto all = cluster().requests();
  for (std::size_t i = before; i < all.size(); ++i) CHECK(all[i].verb == "handshake");
}

TEST_CASE("a rotated token is taken on 401 at once, and the request sent once more") {
  Here here;
  REQUIRE(here.status_or_error(kNode) == "200");
  cluster().fault("rotate_token");
  CHECK(here.status_or_error(kNode) == "200");
  CHECK(here.client.use().requests == 3);
  Watched watched(here.client, kSlos + "?watch=true");
  REQUIRE(here.until([&] { return watched.runs(); }));
  cluster().fault("rotate_token");
  Watched renewed(here.client, kSlos + "?watch=true");
  REQUIRE(here.until([&] { return renewed.runs(); }));
  CHECK(renewed.token() == watched.token() + 1);
  CHECK(watched.ending() == "goes on");
}

TEST_CASE("401 without a newer token is the answer, after one request") {
  Here here;
  REQUIRE(here.status_or_error(kNode) == "200");
  cluster().fault("rotate_token", R"({"write": false})");
  const Result<Reply> reply = here.get(kNode);
  REQUIRE(reply);
  CHECK(reply->status == 401);
  CHECK(here.client.use().requests == 2);
  cluster().fault("write_token");
  CHECK(here.status_or_error(kNode) == "200");
}

TEST_CASE("authorities are replaced live: new connections use the new file, kept ones close, a watch goes on") {
  ManualClock clock;
  Here here;
  Client client(here.loop, here.workers, clock, config(), {.requests_per_second = 1000, .burst = 1000});
  const auto ask = [&] {
    std::optional<Result<Reply>> reply;
    const auto pending = client.send({.target = kNode, .timeout = 60s}, [&](Result<Reply> r) { reply = std::move(r); });
    REQUIRE(here.until([&] { return reply.has_value(); }));
    return *reply ? std::to_string((*reply)->status) : reply->error().message();
  };
  REQUIRE(ask() == "200");
  Watched watched(client, kSlos + "?watch=true");
  REQUIRE(here.until([&] { return watched.runs(); }));
  REQUIRE(ask() == "200");
  const auto connections = client.use().connections;
  cluster().fault("replace_ca");
  REQUIRE(ask() == "200");
  CHECK(client.use().connections == connections);  // the monitor has not run yet
  clock.advance(4s);
  REQUIRE(ask() == "200");
  CHECK(client.use().connections == connections + 1);
  CHECK(watched.ending() == "goes on");
}

TEST_CASE("a client certificate is replaced live") {
  ManualClock clock;
  Here here;
  Client client(here.loop, here.workers, clock, *find_config(cluster().kubeconfig_with_certificate()),
                {.requests_per_second = 1000, .burst = 1000});
  const auto ask = [&] {
    std::optional<Result<Reply>> reply;
    const auto pending = client.send({.target = kNode, .timeout = 60s}, [&](Result<Reply> r) { reply = std::move(r); });
    REQUIRE(here.until([&] { return reply.has_value(); }));
    return *reply ? std::to_string((*reply)->status) : reply->error().message();
  };
  REQUIRE(ask() == "200");
  cluster().fault("rotate_client_certificate");
  clock.advance(4s);
  CHECK(ask() == "200");
}

TEST_CASE("an unavailable server is reported, and the next request reaches it when it is back") {
  Here here;
  REQUIRE(here.status_or_error(kNode) == "200");
  cluster().fault("down");
  const std::string why = here.status_or_error(kNode);
  CHECK_MESSAGE(contains(why, "cannot connect: Connection refused"), why);
  cluster().clear_faults();
  CHECK(here.status_or_error(kNode) == "200");
}

TEST_CASE("a server that does not answer, or does not even shake hands, costs the timeout") {
  Here here;
  const auto hangs = [&] {
    std::optional<Result<Reply>> reply;
    const auto pending =
        here.client.send({.target = kNode, .timeout = 100ms}, [&](Result<Reply> r) { reply = std::move(r); });
    REQUIRE(here.until([&] { return reply.has_value(); }));
    return *reply ? "an answer" : reply->error().message();
  };
  cluster().fault("hang");
  CHECK(contains(hangs(), "within 100 ms"));
  cluster().fault("hang", R"({"handshake": true})");
  CHECK(contains(hangs(), "cannot connect within 100 ms"));
}

TEST_CASE("a body without an end stops at its bound, and so does a line of a watch") {
  Here here;
  cluster().fault("endless");
  const Result<Reply> reply = here.send({.target = kNode, .timeout = 60s, .max_body = 300'000});
  REQUIRE_FALSE(reply);
  CHECK(contains(reply.error().message(), "more than 300000 bytes"));
  Watched watched(here.client, kSlos + "?watch=true", {.max_body = 300'000});
  REQUIRE(here.until([&] { return watched.end.has_value(); }));
  CHECK_MESSAGE(contains(watched.ending(), "found a line of more than 300000 bytes"), watched.ending());
  CHECK(watched.lines.empty());
}

TEST_CASE("an answer and a watch that are cut are errors, not short answers") {
  Here here;
  cluster().fault("cut", R"({"after_bytes": 40})");
  const std::string why = here.status_or_error("/api/v1/nodes");
  CHECK_MESSAGE(contains(why, "the answer broke off"), why);
  Watched watched(here.client, kSlos + "?watch=true");
  REQUIRE(here.until([&] { return watched.end.has_value(); }));
  CHECK_MESSAGE(contains(watched.ending(), "the answer broke off"), watched.ending());
}

TEST_CASE("a watch that the server ends in order ends with 200, one that it refuses with its answer") {
  Here here;
  Watched watched(here.client, kSlos + "?watch=true");
  REQUIRE(here.until([&] { return watched.runs(); }));
  cluster().fault("end_watches");
  REQUIRE(here.until([&] { return watched.end.has_value(); }));
  CHECK(watched.ending() == "200");
  cluster().fault("gone", R"({"as": "status"})");
  Watched refused(here.client, kSlos + "?watch=true&resourceVersion=1");
  REQUIRE(here.until([&] { return refused.end.has_value(); }));
  REQUIRE(*refused.end);
  CHECK((*refused.end)->status == 410);
  CHECK(contains((*refused.end)->body, "Status"));
}

TEST_CASE("a watch without events is ended") {
  Here here;
  Watched watched(here.client, kSlos + "?watch=true&resourceVersion=0", {.silence = 200ms});
  REQUIRE(here.until([&] { return watched.end.has_value(); }));
  CHECK_MESSAGE(contains(watched.ending(), "nothing came for 200 ms"), watched.ending());
}

TEST_CASE("Retry-After of 429 is reported, and delays further calls of that verb, not of others") {
  ManualClock clock;
  Here here;
  Client client(here.loop, here.workers, clock, config(), {.requests_per_second = 1000, .burst = 1000});
  std::optional<Result<Reply>> refused, held, other;
  const auto send = [&](Verb verb, std::optional<Result<Reply>>& into) {
    return client.send({.verb = verb, .target = kNode, .timeout = 60s}, [&](Result<Reply> r) { into = std::move(r); });
  };
  cluster().fault("too_many_requests", R"({"retry_after": 1, "count": 1})");
  const auto first = send(Verb::get, refused);
  REQUIRE(here.until([&] { return refused.has_value(); }));
  REQUIRE(*refused);
  CHECK((*refused)->status == 429);
  CHECK((*refused)->retry_after == 1s);
  const auto second = send(Verb::get, held), third = send(Verb::list, other);
  REQUIRE(here.until([&] { return other.has_value(); }));
  CHECK_FALSE(held);
  CHECK(client.use().delayed == 1);
  clock.advance(1s);
  REQUIRE(here.until([&] { return held.has_value(); }));
  CHECK((*held)->status == 200);
}

TEST_CASE("calls beyond the rate wait for their turn, in their order, and one that is dropped gives it up") {
  ManualClock clock;
  Here here;
  Client client(here.loop, here.workers, clock, config(), {.requests_per_second = 10, .burst = 1});
  std::vector<int> answered;
  std::vector<Client::PendingPtr> pending;
  for (int i = 0; i < 4; ++i)
    pending.push_back(client.send({.target = kNode, .timeout = 60s},
                                  [&answered, i](const Result<Reply>&) { answered.push_back(i); }));
  pending[1].reset();
  REQUIRE(here.until([&] { return answered.size() == 1; }));
  CHECK(client.use().requests == 1);
  clock.advance(100ms);
  REQUIRE(here.until([&] { return answered.size() == 2; }));
  CHECK(client.use().requests == 2);
  clock.advance(100ms);
  REQUIRE(here.until([&] { return answered.size() == 3; }));
  CHECK(answered == std::vector{0, 2, 3});
}

TEST_CASE("a callback may drop its own call, of a watch in the middle of a line too") {
  Here here;
  int lines = 0, ends = 0;
  Client::PendingPtr pending;
  for (const char* name : {"x", "y"})
    cluster().put(R"({"kind": "NodeSLO", "metadata": {"name": ")" + std::string(name) + R"("}})");
  pending = here.client.watch({.verb = Verb::watch, .target = kSlos + "?watch=true", .timeout = 60s},
                              {.on_line = [&](std::string_view) { ++lines, pending.reset(); },
                               .on_end = [&](const Result<Reply>&) { ++ends; }});
  REQUIRE(here.until([&] { return lines > 0; }));
  bool answered = false;
  pending = here.client.send({.target = kNode, .timeout = 60s},
                             [&](const Result<Reply>&) { pending.reset(), answered = true; });
  REQUIRE(here.until([&] { return answered; }));
  CHECK(lines == 1);
  CHECK(ends == 0);
}

TEST_CASE("a token that cannot be read fails the call, and the server is not asked") {
  ConnectionConfig without = config();
  without.token_file = "/nowhere/token";
  Here here(without);
  CHECK(contains(here.status_or_error(kNode), "cannot read the token: "));
  CHECK(here.client.use().connections == 0);
}

TEST_CASE("objects are created, replaced, patched and removed") {
  Here here;
  const std::string slo =
      R"({"apiVersion": "slo.koordinator.sh/v1alpha1", "kind": "NodeSLO", "metadata": {"name": "w"}, "spec": {}})";
  const auto status = [&](Call call) {
    const Result<Reply> reply = here.send(std::move(call));
    return reply ? reply->status : 0;
  };
  CHECK(status({.verb = Verb::create, .target = kSlos, .body = slo}) == 201);
  CHECK(status({.verb = Verb::create, .target = kSlos, .body = slo}) == 409);
  CHECK(status({.verb = Verb::patch,
                .target = kSlos + "/w",
                .body = R"({"metadata": {"labels": {"a": "b"}}})",
                .content_type = "application/merge-patch+json"}) == 200);
  CHECK(contains(here.get(kSlos + "/w")->body, R"("a")"));
  const std::string now = here.get(kSlos + "/w")->body;
  CHECK(status({.verb = Verb::update, .target = kSlos + "/w", .body = now}) == 200);
  CHECK(status({.verb = Verb::remove, .target = kSlos + "/w"}) == 200);
  CHECK(status({.verb = Verb::get, .target = kSlos + "/w"}) == 404);
}
