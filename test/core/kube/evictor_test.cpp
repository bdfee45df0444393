// SPDX-License-Identifier: Apache-2.0
#include "core/kube/evictor.hpp"

#include "cluster_client.hpp"
#include "core/kube/object.hpp"

using namespace koord;
using namespace koord::kube;
using namespace koord::test;
using Outcome = EvictionAnswer::Outcome;

namespace {

struct Evicting : ClusterClient {
  // Creates the pod. Returns its UID.
  std::string put_pod(const std::string& name) {
    const std::string pod =
        cluster.put(R"({"kind":"Pod","metadata":{"name":")" + name + R"(","namespace":"shop","labels":{"app":")" +
                    name + R"("}},"spec":{"nodeName":"test-node"}})");
    return parse_object(pod)->uid;
  }
  void put_budget(const std::string& name, const std::string& pod, int allowed) {
    cluster.put(R"({"kind":"PodDisruptionBudget","metadata":{"name":")" + name +
                R"(","namespace":"shop"},"spec":{"selector":{"matchLabels":{"app":")" + pod +
                R"("}}},"status":{"disruptionsAllowed":)" + std::to_string(allowed) + "}}");
  }
  Result<EvictionAnswer> evict(const std::string& name, const std::string& uid) {
    std::optional<Result<EvictionAnswer>> answer;
    const auto pending = evictor.evict({.name_space = "shop", .name = name, .uid = uid},
                                       [&](Result<EvictionAnswer> a) { answer = std::move(a); });
    REQUIRE(until([&] { return answer.has_value(); }));
    return *std::move(answer);
  }
  bool there(const std::string& pod) { return cluster.get("Pod", pod, "shop").has_value(); }

  Evictor evictor{client};
};

}  // namespace

TEST_CASE("a pod is evicted with the version that the server speaks, which is asked for once") {
  Evicting evicting;
  const std::string one = evicting.put_pod("one"), two = evicting.put_pod("two");
  auto answer = evicting.evict("one", one);
  REQUIRE_MESSAGE(answer, answer.error().message());
  CHECK_MESSAGE(answer->outcome == Outcome::evicted, answer->message);
  CHECK_FALSE(evicting.there("one"));
  CHECK(evicting.evictor.version() == "policy/v1");
  const auto asked = evicting.cluster.requests(R"({"path":"/apis/policy"})").size();
  CHECK(evicting.evict("two", two)->outcome == Outcome::evicted);
  CHECK(evicting.cluster.requests(R"({"path":"/apis/policy"})").size() == asked);
}

TEST_CASE("a pod that was created again under the name is left alone") {
  Evicting evicting;
  evicting.put_pod("remade");
  CHECK(evicting.evict("remade", "00000000-0000-0000-0000-000000000000")->outcome == Outcome::gone);
  CHECK(evicting.there("remade"));
  CHECK(evicting.evict("nobody", "u")->outcome == Outcome::gone);
}

TEST_CASE("a budget without a disruption left refuses, and says when to ask again; other pods do not wait for that") {
  Evicting evicting;
  const std::string uid = evicting.put_pod("kept");
  evicting.put_budget("kept", "kept", 0);
  auto refused = evicting.evict("kept", uid);
  REQUIRE(refused);
  CHECK(refused->outcome == Outcome::over_budget);
  CHECK(refused->retry_after == std::chrono::seconds(10));
  CHECK(evicting.there("kept"));
  CHECK(refused->message == "429 TooManyRequests: The disruption budget kept has no disruption left");
  CHECK(evicting.evict("next", evicting.put_pod("next"))->outcome == Outcome::evicted);
  evicting.put_budget("kept", "kept", 1);
  CHECK(evicting.evict("kept", uid)->outcome == Outcome::evicted);
}

TEST_CASE("the eviction of a pod with two budgets is refused, and the reason says so") {
  Evicting evicting;
  const std::string uid = evicting.put_pod("twice");
  evicting.put_budget("first", "twice", 1);
  evicting.put_budget("second", "twice", 1);
  auto refused = evicting.evict("twice", uid);
  CHECK(refused->outcome == Outcome::refused);
  CHECK(refused->message.find("more than one PodDisruptionBudget") != std::string::npos);
}

TEST_CASE("forbidden and busy are distinguished") {
  Evicting evicting;
  const std::string uid = evicting.put_pod("denied");
  evicting.cluster.fault("deny", R"({"verb":"create","kind":"Pod"})");
  CHECK(evicting.evict("denied", uid)->outcome == Outcome::forbidden);
  evicting.cluster.clear_faults();
  evicting.cluster.fault("error", R"({"verb":"create","kind":"Pod","code":503})");
  CHECK(evicting.evict("denied", uid)->outcome == Outcome::busy);
  CHECK(evicting.there("denied"));
}

TEST_CASE("a server that cannot be asked for its version is an error, and is asked the next time") {
  Evicting evicting;
  const std::string uid = evicting.put_pod("unasked");
  evicting.cluster.fault("garbage", R"({"path":"/api/v1","count":2})");
  auto failed = evicting.evict("unasked", uid);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message().starts_with("versions of the server: "));
  evicting.cluster.clear_faults();
  CHECK(evicting.evict("unasked", uid)->outcome == Outcome::evicted);
}

TEST_CASE("evictions that begin together ask for the version once, and a cancelled one delays no other") {
  Evicting evicting;
  std::vector<std::string> names = {"p0", "p1", "p2", "p3", "p4"};
  std::map<std::string, Outcome> outcomes;
  std::vector<Client::PendingPtr> running;
  const auto first = evicting.cluster.requests(R"({"path":"/api/v1","verb":"get"})").size();
  for (const std::string& name : names) {
    running.push_back(evicting.evictor.evict({"shop", name, evicting.put_pod(name)},
                                             [&outcomes, name](Result<EvictionAnswer> answer) {
                                               outcomes[name] = answer ? answer->outcome : Outcome::refused;
                                             }));
  }
  running.front().reset();
  REQUIRE(evicting.until([&] { return outcomes.size() == 4; }));
  for (const auto& [name, outcome] : outcomes) CHECK(outcome == Outcome::evicted);
  CHECK(evicting.there("p0"));
  CHECK(evicting.cluster.requests(R"({"path":"/api/v1","verb":"get"})").size() == first + 1);
}

TEST_CASE("a server of Kubernetes 1.21 is spoken to in policy/v1beta1") {
  TestCluster old({.minor = 21});
  auto config = find_config(old.kubeconfig());
  REQUIRE(config);
  LoopHere here;
  SystemClock clock;
  Client client(here.loop, here.workers, clock, *config, {});
  Evictor evictor(client);
  const std::string uid =
      parse_object(old.put(R"({"kind":"Pod","metadata":{"name":"a","namespace":"shop"},"spec":{}})"))->uid;
  std::optional<Result<EvictionAnswer>> answer;
  const auto pending = evictor.evict({.name_space = "shop", .name = "a", .uid = uid},
                                     [&](Result<EvictionAnswer> a) { answer = std::move(a); });
  REQUIRE(here.until([&] { return answer.has_value(); }));
  REQUIRE_MESSAGE(*answer, answer->error().message());
  CHECK((*answer)->outcome == Outcome::evicted);
  CHECK(evictor.version() == "policy/v1beta1");
  CHECK_FALSE(old.get("Pod", "a", "shop"));
}
