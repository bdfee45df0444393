// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "plugins/hook-network/network_shares.hpp"
#include "test/support/fake_host.hpp"

using namespace koord::hook_network;
using koord::state::Pod;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;

namespace {

constexpr const char* kSlo = R"({"systemStrategy": {"totalNetworkBandwidth": "1G"}, "resourceQOSStrategy": {
  "policies": {"netQOSPolicy": "tc"},
  "lsClass": {"networkQOS": {"enable": true, "egressRequest": 40, "egressLimit": 100}},
  "beClass": {"networkQOS": {"enable": true, "egressRequest": "80M", "egressLimit": 50}}}})";
constexpr const char* kClasses =
    "1=125000000:125000000:0;2=65000000:125000000:1;3=50000000:125000000:2;4=10000000:62500000:3";
constexpr std::uint32_t kTop = kMajor << 16;
constexpr const char* kConfig = R"({"interface": "eth0"})";
using Fields = decltype(koord::host::HookSettings::fields);

Network network() { return *parse_network(kSlo); }

PodFacts pod(std::string_view label, std::optional<std::string_view> annotation = {}) {
  return {"a1b2", "shop/web", label, annotation};
}

FakeNode node_with_net_cls() {
  return FakeNode({{"cgroup/cpu/tasks", ""}, {"cgroup/memory/tasks", ""}, {"cgroup/net_cls/tasks", ""}});
}

}  // namespace

TEST_CASE("classes share the network in bytes: numbers are percent of the total, quantities are in bits") {
  const Network shares = network();
  CHECK(shares.problems.empty());
  CHECK(shares.total == 125'000'000);
  CHECK(shares.ls == Share{true, 50'000'000, 125'000'000});
  CHECK(shares.be == Share{true, 10'000'000, 62'500'000});
  CHECK(plan(shares, {}).classes == kClasses);
}

TEST_CASE("there are no shares with another policy, without a total, or without an enabled class") {
  for (
      const char* slo :
      {"", "{}", R"({"systemStrategy": {"totalNetworkBandwidth": "1G"}})",
       R"({"resourceQOSStrategy": {"beClass": {"networkQOS": {"enable": true, "egressLimit": 50}}}})",
       R"({"systemStrategy": {"totalNetworkBandwidth": "0"}, "resourceQOSStrategy": {"beClass": {"networkQOS": {"enable": true}}}})",
       R"({"systemStrategy": {"totalNetworkBandwidth": "1G"}, "resourceQOSStrategy": {
          "policies": {"netQOSPolicy": "terway-qos"}, "beClass": {"networkQOS": {"enable": true, "egressLimit": 50}}}})"}) {
    CAPTURE(slo);
    const auto parsed = parse_network(slo);
    REQUIRE(parsed);
    CHECK_FALSE(parsed->shares());
    CHECK(plan(*parsed, {pod("BE")}).classes == "");
    CHECK(adjust(pod("BE"), *parsed) == Adjustment{});
  }
}

TEST_CASE("an invalid value switches its class off, and is named") {
  const auto of_be = [](const std::string& fields) {
    return *parse_network(R"({"systemStrategy": {"totalNetworkBandwidth": "1G"}, "resourceQOSStrategy": {"beClass":
      {"networkQOS": {"enable": true, )" +
                          fields + "}}}}");
  };
  for (const char* wrong : {R"("egressLimit": 101)", R"("egressLimit": -1)", R"("egressLimit": "fast")",
                            R"("egressLimit": [5])", R"("egressLimit": "-5M")", R"("egressLimit": 1.5)",
                            R"("egressRequest": 50, "egressLimit": 40)", R"("egressRequest": "2G")"}) {
    CAPTURE(wrong);
    const Network shares = of_be(wrong);
    CHECK_FALSE(shares.be.is_on);
    REQUIRE(shares.problems.size() == 1);
    CHECK(shares.problems[0].starts_with("resourceQOSStrategy.beClass.networkQOS"));
  }
  CHECK(of_be(R"("egressLimit": 0)").be == Share{true, 0, 0});
  CHECK_FALSE(parse_network("{"));
}

TEST_CASE("requests that exceed the network in total are not granted, and no sum overflows") {
  const auto parsed = parse_network(R"({"systemStrategy": {"totalNetworkBandwidth": "1G"}, "resourceQOSStrategy": {
    "lsClass": {"networkQOS": {"enable": true, "egressRequest": 60}},
    "beClass": {"networkQOS": {"enable": true, "egressRequest": 60}}}})");
  REQUIRE(parsed);
  CHECK(parsed->problems.size() == 1);
  CHECK(plan(*parsed, {}).classes ==
        "1=125000000:125000000:0;2=125000000:125000000:1;3=1000:125000000:2;4=1000:125000000:3");
}

TEST_CASE("a pod is in the class of its QoS label; one without a label, and SYSTEM, are in the default class") {
  for (const char* label : {"LSE", "LSR", "LS"}) CHECK(adjust(pod(label), network()).classid == (kTop | kLs));
  CHECK(adjust(pod("BE"), network()).classid == (kTop | kBe));
  for (const char* label : {"", "SYSTEM", "be", "NONE"}) CHECK_FALSE(adjust(pod(label), network()).classid);
}

TEST_CASE("a pod with its own limit has its own class, which is the same after a restart") {
  const char* limit = R"({"ingressLimit": "10M", "egressLimit": "20M"})";
  const Adjustment own = adjust(pod("LS", limit), network());
  REQUIRE(own.classid);
  CHECK((*own.classid >> 16) == kMajor);
  CHECK((*own.classid & 0xffff) >= kFirstPod);
  CHECK(own.egress_limit == 2'500'000);
  CHECK(own == adjust(pod("LS", limit), network()));
  CHECK(adjust(pod("SYSTEM", limit), network()).classid == own.classid);
  CHECK_FALSE(adjust(pod("", limit), network()).classid);
  CHECK(adjust(pod("LS", R"({"ingressLimit": "10M"})"), network()).classid == (kTop | kLs));
  const Plan planned = plan(network(), {pod("LS", limit), pod("BE")});
  CHECK(planned.classes == std::string(kClasses) + ";" + std::to_string(*own.classid & 0xffff) + "=1000:2500000:2");
}

TEST_CASE("pods with the same number share the sum of their limits, and are named") {
  const char* limit = R"({"egressLimit": "20M"})";
  PodFacts other = pod("BE", limit);
  other.name = "shop/job";
  const Plan planned = plan(network(), {pod("LS", limit), other});
  CHECK(planned.classes.ends_with("=1000:5000000:3"));
  REQUIRE(planned.problems.size() == 1);
  CHECK(planned.problems[0].find("shop/web and shop/job") != std::string::npos);
}

TEST_CASE("an invalid annotation is ignored with its reason, and the pod stays in its class") {
  for (const char* wrong : {"", "[]", "7", "{", R"({"egressLimit": "fast"})", R"({"egressLimit": -5})",
                            R"({"egressLimit": "7k"})", R"({"egressLimit": "1e30"})", R"({"egressLimit": {}})"}) {
    CAPTURE(wrong);
    const Adjustment adjustment = adjust(pod("BE", wrong), network());
    CHECK(adjustment.classid == (kTop | kBe));
    CHECK(adjustment.egress_limit == 0);
    CHECK(adjustment.problem.starts_with("koordinator.sh/networkQOS: "));
  }
}

TEST_CASE("the hook gives the class to pod and container once an operator has named an interface") {
  const FakeNode node = node_with_net_cls();
  Pod web;
  web.uid = web.name = "web";
  web.labels = {{"koordinator.sh/qosClass", "BE"}};
  web.containers.emplace_back();
  FakeHost host(node, kConfig);
  FakeInstance hook(host, koord_entry_v1());
  REQUIRE(hook.init() == KOORD_OK);
  const Fields expected{{"linux.net_cls.classid", std::to_string(kTop | kBe)}};
  CHECK(hook.handle(web, nullptr, kSlo).fields == expected);
  CHECK(hook.handle(web, &web.containers[0], kSlo).fields == expected);
  CHECK(hook.handle(web, nullptr, "{}").fields.empty());
  FakeHost unconfigured(node);
  FakeInstance off(unconfigured, koord_entry_v1());
  REQUIRE(off.init() == KOORD_OK);
  CHECK(off.handle(web, nullptr, kSlo).fields.empty());
}

TEST_CASE("the strategy proposes the classes of that interface, but none before it is named") {
  const FakeNode node = node_with_net_cls();
  for (const char* config : {kConfig, "{}"}) {
    CAPTURE(config);
    FakeHost host(node, config);
    FakeInstance strategy(host, koord_entry_v1(), 1);
    REQUIRE(strategy.init() == KOORD_OK);
    host.hub().publish({.node_slo = kSlo});
    REQUIRE(strategy.evaluate() == KOORD_OK);
    const koord::knob::Plan plan = host.context().take_plan();
    const bool is_named = std::string_view(config) == kConfig;
    CHECK(host.capabilities().find("traffic_classes")->state ==
          (is_named ? koord::service::CapabilityState::supported : koord::service::CapabilityState::absent));
    REQUIRE(plan.size() == (is_named ? 1 : 0));
    if (!is_named) continue;
    CHECK(plan[0].knob->name == "tc.classes");
    CHECK(plan[0].cgroup_dir == "eth0");
    CHECK(plan[0].level == koord::decision::Level::node);
    CHECK(plan[0].value == kClasses);
  }
}

TEST_CASE("a missing interface is named by the capability, and its classes are proposed until it exists") {
  const FakeNode node = node_with_net_cls();
  FakeHost host(node, kConfig);
  FakeInstance strategy(host, koord_entry_v1(), 1);
  REQUIRE(strategy.init() == KOORD_OK);
  host.hub().publish({.node_slo = kSlo});
  for (const auto& [outcome, state] :
       {std::pair(koord::decision::Outcome::gone, koord::service::CapabilityState::absent),
        std::pair(koord::decision::Outcome::applied, koord::service::CapabilityState::supported)}) {
    REQUIRE(strategy.evaluate() == KOORD_OK);
    CHECK(host.context().take_plan().size() == 1);
    REQUIRE(strategy.on_applied({{outcome, "tc.classes", "eth0", "", ""}}) == KOORD_OK);
    const auto capability = host.capabilities().find("traffic_classes");
    CHECK(capability->state == state);
    const bool is_named = capability->detail.find("'eth0' is missing") != std::string::npos;
    CHECK(is_named == (outcome == koord::decision::Outcome::gone));
  }
}

TEST_CASE("a kernel that lacks net_cls or refuses classes is reported as a capability, and is not tried repeatedly") {
  const FakeNode plain;
  FakeHost host(plain, kConfig);
  FakeInstance without(host, koord_entry_v1(), 1);
  REQUIRE(without.init() == KOORD_OK);
  host.hub().publish({.node_slo = kSlo});
  REQUIRE(without.evaluate() == KOORD_OK);
  CHECK(host.context().take_plan().empty());
  CHECK(host.capabilities().find("net_cls")->state == koord::service::CapabilityState::absent);

  const FakeNode node = node_with_net_cls();
  FakeHost refusing(node, kConfig);
  FakeInstance strategy(refusing, koord_entry_v1(), 1);
  REQUIRE(strategy.init() == KOORD_OK);
  refusing.hub().publish({.node_slo = kSlo});
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(refusing.context().take_plan().size() == 1);
  REQUIRE(strategy.on_applied({{koord::decision::Outcome::unsupported, "tc.classes", "eth0", "", ""}}) == KOORD_OK);
  CHECK(refusing.capabilities().find("traffic_classes")->state == koord::service::CapabilityState::absent);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(refusing.context().take_plan().empty());
  refusing.clock().advance(std::chrono::minutes(10));
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(refusing.context().take_plan().size() == 1);
}
