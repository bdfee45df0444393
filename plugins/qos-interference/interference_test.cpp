// SPDX-License-Identifier: Apache-2.0
// Tests of the ladder's intents, and of the plugin on the host's real services and a fake node.
#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "koordetector/verdicts.hpp"
#include "plugins/qos-interference/intents.hpp"
#include "test/support/fake_samples.hpp"

using namespace koord::mitigation;
using koord::plugin::str;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using koord::test::FakeSamples;

namespace {

constexpr std::uint64_t kCartPod = 1, kEtlPod = 2;

Restraint restraint(Resource resource, Step step) {
  Restraint restraint;
  restraint.pod = kEtlPod;
  restraint.cgroup_dir = "kubepods/burstable/podetl";
  restraint.resource = resource;
  restraint.step = step;
  restraint.has_weight = true;
  restraint.used = 1.7;
  restraint.cause = {12,
                     kCartPod,
                     "advisor-interference",
                     "shop/cart-7d9/app",
                     "exact",
                     "held_up 0.042, limit 0.01 ratio",
                     "seconds/second",
                     0.0381,
                     0.62};
  return restraint;
}

koord::state::Pod state_pod(const std::string& name, koord::state::KoordQos qos) {
  koord::state::Pod pod;
  pod.uid = name;
  pod.namespace_ = "shop";
  pod.name = name;
  pod.koord_qos = qos;
  pod.phase = koord::state::Phase::running;
  pod.cgroup_dir = "kubepods/burstable/pod" + name;
  pod.containers.resize(1);
  pod.containers[0].id = "containerd://" + name;
  pod.containers[0].name = "app";
  pod.containers[0].state = koord::state::ContainerState::running;
  return pod;
}

// The plugin with a service `cart` and a best-effort pod `etl`; an advisor posts verdicts.
struct PluginFixture {
  explicit PluginFixture(const std::string& config = "{}") : host(node, config) {
    host.hub().publish({.pods = std::vector{state_pod("cart", koord::state::KoordQos::ls),
                                            state_pod("etl", koord::state::KoordQos::be)}});
    samples.add("pod_cpu_usage", 1.6, pod(1).handle);
    REQUIRE(strategy.init() == KOORD_OK);
  }
  const koord::state::Pod& pod(std::size_t index) { return host.hub().current()->pods[index]; }

  void blame(koord::service::PluginContext& plugin, std::uint32_t resource = KOORD_RESOURCE_CPU,
             std::chrono::seconds ttl = std::chrono::seconds(60)) {
    koord::plugin::Verdict verdict;
    verdict.resource = resource;
    verdict.ttl = ttl;
    verdict.victim = pod(0).containers[0].handle;
    verdict.method = KOORD_METHOD_EXACT;
    verdict.from_ns = verdict.to_ns = koord::to_ns(host.clock().now());
    verdict.statistic = "held_up";
    verdict.statistic_unit = "ratio";
    verdict.value = 0.042;
    verdict.amount_unit = "seconds/second";
    verdict.suspects.resize(1);
    verdict.suspects[0].subject = pod(1).containers[0].handle;
    verdict.suspects[0].value = 0.038;
    verdict.suspects[0].share = 0.62;
    koord::plugin::Verdicts(plugin.host()).post({verdict});
    is_blamed = true;
  }
  // Evaluates once and returns the knobs of the plan with their values.
  std::map<std::string, std::string> evaluate() {
    REQUIRE_MESSAGE(strategy.evaluate() == KOORD_OK, strategy.why());
    std::map<std::string, std::string> knobs;
    for (const koord::knob::Intent& intent : host.context().take_plan()) {
      CHECK(intent.cgroup_dir == "kubepods/burstable/podetl");
      CHECK(intent.role == koord::decision::Role::cap);
      knobs[std::string(intent.knob->name)] = intent.value;
    }
    return knobs;
  }
  void result(const std::string& knob, koord::decision::Outcome outcome) {
    REQUIRE(strategy.on_applied({{outcome, knob, "kubepods/burstable/podetl", "", ""}}) == KOORD_OK);
  }
  void pass(int seconds) {
    host.clock().advance(std::chrono::seconds(seconds));
    samples.add("pod_cpu_usage", 1.6, pod(1).handle);
    if (is_blamed) blame(*advisor);
  }

  const FakeNode node{{{"cgroup/cgroup.controllers", "cpu\n"}}};
  FakeHost host;
  FakeSamples samples{host};
  std::unique_ptr<koord::service::PluginContext> advisor =
      host.make_context("advisor-interference", koord::workshop::all_services(), "{}", {.host_plugin = true});
  FakeInstance strategy{host, koord_entry_v1()};
  bool is_blamed = false;
};

using Plan = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("each step is a cap of the pod with the verdict as its reason") {
  Restraint capped = restraint(Resource::cpu, Step::cap);
  capped.limit = 0.85;
  const auto intents = intents_of({capped}, {});
  REQUIRE(intents.size() == 2);
  CHECK(intents[0].knob == "cpu.weight");
  CHECK(intents[0].value == "1");
  CHECK(intents[1].knob == "cpu.max");
  CHECK(intents[1].value == "85000 100000");
  for (const auto& intent : intents) {
    CHECK(intent.role == KOORD_ROLE_CAP);
    CHECK(intent.level == KOORD_LEVEL_POD);
    CHECK(intent.cgroup_dir == "kubepods/burstable/podetl");
  }
  CHECK(intents[1].reason ==
        "step cap: it holds up shop/cart-7d9/app (cpu, 38.1 ms/s of its waits, 62 %, exact), verdict 12 of "
        "advisor-interference");
  CHECK(intents[1].inputs[0] == std::pair<std::string, std::string>("verdict", "12"));
  CHECK(intents[1].inputs.back() == std::pair<std::string, std::string>("used_before", "1.7"));
}

TEST_CASE("both steps of memory use one knob, and a knob that the kernel lacks is not proposed") {
  Restraint squeezed = restraint(Resource::memory, Step::weight);
  squeezed.high = 9e8;
  CHECK(intents_of({squeezed}, {})[0].value == "900000000");
  squeezed.step = Step::cap;
  squeezed.limit = 5e8;
  const auto intents = intents_of({squeezed}, {});
  REQUIRE(intents.size() == 1);
  CHECK(intents[0].knob == "memory.high");
  CHECK(intents[0].value == "500000000");
  CHECK(intents_of({squeezed}, {"memory.high"}).empty());
  CHECK(intents_of({restraint(Resource::blkio, Step::weight)}, {})[0].value == "default 1");
}

TEST_CASE_FIXTURE(PluginFixture, "the plugin proposes the steps of the ladder, and shows the pod's step") {
  CHECK(evaluate().empty());
  blame(*advisor);
  CHECK(evaluate() == Plan{{"cpu.weight", "1"}});
  CHECK(host.value("pod_interference_step", {{"pod_name", "etl"}}) == 1);
  CHECK(host.value("interference_restrained_pods") == 1);
  REQUIRE(host.events().size() == 1);
  CHECK(host.events()[0].what == "interference: cpu restraint none -> weight");
  CHECK(host.events()[0].why == "it holds up shop/cart/app: verdict 1 of advisor-interference");
  result("cpu.weight", koord::decision::Outcome::applied);
  pass(60);
  CHECK(evaluate() == Plan{{"cpu.max", "80000 100000"}, {"cpu.weight", "1"}});
  CHECK(host.value("pod_interference_step", {{"pod_name", "etl"}, {"resource", "cpu"}}) == 2);
}

TEST_CASE_FIXTURE(PluginFixture,
                  "a pod that still interferes under its cap is evicted, with a reason that names the verdict") {
  blame(*advisor);
  evaluate();
  result("cpu.weight", koord::decision::Outcome::applied);
  pass(60);
  evaluate();
  CHECK(host.context().take_evictions().empty());
  result("cpu.max", koord::decision::Outcome::applied);
  pass(60);
  evaluate();
  const auto requests = host.context().take_evictions();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].pods == std::vector{pod(1).handle});
  CHECK(requests[0].resource == "cpu");
  CHECK(
      requests[0].reason ==
      "step evict: it holds up shop/cart/app (cpu, 38 ms/s of its waits, 62 %, exact), verdict 1 of advisor-interference");
  CHECK(requests[0].inputs.back() == std::pair<std::string, std::string>("feature", "InterferenceMitigation"));
}

TEST_CASE_FIXTURE(PluginFixture, "if the host refuses its eviction, a pod stays at its cap") {
  blame(*advisor);
  evaluate();
  result("cpu.weight", koord::decision::Outcome::applied);
  pass(60);
  evaluate();
  result("cpu.max", koord::decision::Outcome::applied);
  pass(60);
  for (std::size_t i = 0; i < koord::service::PluginContext::kMaxEvictions; ++i)
    REQUIRE(host.context().request_eviction({}));
  CHECK(evaluate() == Plan{{"cpu.max", "80000 100000"}, {"cpu.weight", "1"}});
  CHECK(host.value("pod_interference_step", {{"pod_name", "etl"}}) == 2);
  CHECK(host.events().back().what == "interference: cpu restraint weight -> cap");
  CHECK(host.context().take_evictions().size() == koord::service::PluginContext::kMaxEvictions);
  pass(60);
  evaluate();
  CHECK(host.context().take_evictions().size() == 1);
  CHECK(host.value("pod_interference_step", {{"pod_name", "etl"}}) == 3);
}

TEST_CASE_FIXTURE(PluginFixture, "in shadow the plugin stays at the first step") {
  blame(*advisor);
  for (int minute = 0; minute < 5; ++minute) {
    CHECK(evaluate() == Plan{{"cpu.weight", "1"}});
    result("cpu.weight", koord::decision::Outcome::shadow);
    pass(60);
  }
  CHECK(host.context().take_evictions().empty());
}

TEST_CASE_FIXTURE(PluginFixture, "memory.high is a fraction of the usage that it limits, which includes page cache") {
  samples.add("pod_memory_usage", 200e6, pod(1).handle);
  samples.add("pod_memory_current_bytes", 8e9, pod(1).handle);
  blame(*advisor, KOORD_RESOURCE_MEMORY);
  CHECK(evaluate() == Plan{{"memory.high", "7200000000"}});
}

TEST_CASE_FIXTURE(PluginFixture, "if the kernel lacks a knob, the next step follows at once") {
  blame(*advisor);
  CHECK(evaluate().size() == 1);
  result("cpu.weight", koord::decision::Outcome::unsupported);
  CHECK(evaluate() == Plan{{"cpu.max", "80000 100000"}});
}

TEST_CASE_FIXTURE(PluginFixture, "a cap that the kernel lacks is withdrawn, and no eviction follows") {
  blame(*advisor);
  evaluate();
  result("cpu.weight", koord::decision::Outcome::applied);
  pass(60);
  CHECK(evaluate().size() == 2);
  result("cpu.max", koord::decision::Outcome::unsupported);
  for (int minute = 0; minute < 5; ++minute) {
    CHECK(evaluate() == Plan{{"cpu.weight", "1"}});
    pass(60);
  }
  CHECK(host.context().take_evictions().empty());
}

TEST_CASE_FIXTURE(PluginFixture, "an ended verdict ends the intents, and the series of the pod") {
  blame(*advisor);
  CHECK(evaluate().size() == 1);
  advisor->verdict_closer()("the test is over");
  host.hub().publish({.pods = std::vector{state_pod("etl", koord::state::KoordQos::be)}});
  host.clock().advance(std::chrono::seconds(60));
  CHECK(evaluate().empty());
  CHECK(host.series("pod_interference_step").empty());
  CHECK(host.value("interference_restrained_pods") == 0);
}

TEST_CASE("a third party's verdict counts only if the configuration names the plugin") {
  for (const bool is_trusted : {false, true}) {
    PluginFixture fixture(is_trusted ? R"({"verdictsFrom": ["com.example.judge"]})" : "{}");
    const auto judge =
        fixture.host.make_context("com.example.judge", koord::workshop::all_services(), "{}", {.host_plugin = false});
    fixture.blame(*judge);
    CHECK(fixture.evaluate().size() == (is_trusted ? 1 : 0));
  }
}

TEST_CASE("a trusted third party that posts one verdict for an hour causes one step and no eviction") {
  PluginFixture fixture(R"({"verdictsFrom": ["com.example.judge"]})");
  const auto judge =
      fixture.host.make_context("com.example.judge", koord::workshop::all_services(), "{}", {.host_plugin = false});
  fixture.blame(*judge, KOORD_RESOURCE_CPU, std::chrono::hours(1));
  fixture.is_blamed = false;
  for (int minute = 0; minute < 59; ++minute) {
    CHECK(fixture.evaluate() == Plan{{"cpu.weight", "1"}});
    fixture.result("cpu.weight", koord::decision::Outcome::applied);
    fixture.pass(60);
  }
  CHECK(fixture.host.context().take_evictions().empty());
}

TEST_CASE("pods of a class that is not configured are not restrained") {
  for (const char* classes : {R"({"classes": ["batch"]})", R"({"classes": []})"}) {
    PluginFixture fixture(classes);
    fixture.blame(*fixture.advisor);
    CHECK(fixture.evaluate().empty());
  }
}

TEST_CASE("a plugin name that equals a setting is not read as a setting") {
  PluginFixture fixture(R"({"verdictsFrom": ["classes"]})");
  fixture.blame(*fixture.advisor);
  CHECK(fixture.evaluate().size() == 1);
}

TEST_CASE("a probe interval shorter than the step interval is refused, and the text names both") {
  struct Row {
    const char *config, *why;
  };
  for (const Row& row :
       {Row{R"({"stepSeconds": 60, "probeSeconds": 59})", "probeSeconds is 59, less than stepSeconds, which is 60"},
        Row{R"({"stepSeconds": 601})", "probeSeconds is 600, less than stepSeconds, which is 601"}}) {
    const FakeNode node{{{"cgroup/cgroup.controllers", "cpu\n"}}};
    FakeHost host{node, row.config};
    FakeInstance strategy{host, koord_entry_v1()};
    CHECK(strategy.init() == KOORD_E_INVALID);
    CHECK(strategy.why() == row.why);
  }
}
