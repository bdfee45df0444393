// SPDX-License-Identifier: Apache-2.0
// Third-party strategies in both isolation modes: the host decides on their proposals, and they receive the results.
#include <doctest/doctest.h>
#include <signal.h>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/core/child/deputies.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;
using host::PluginState;

namespace {

constexpr const char* kBefore = "50000 100000";

struct Strategies : Deputies {
  std::string value() { return std::string(trim(*read_file(stage.knobs().path("cgroup/be/pod/cpu.max")))); }
  void enforce(const char* id) { stage.governor().set_mode(id, koord::Mode::enforce); }
  // Returns the status that this deputy received with this winner; nullopt before that.
  std::optional<double> reported(const std::string& deputy, const std::string& winner) {
    return stage.host().value("deputy_" + deputy + "_result", {{"winner", winner}});
  }
  std::optional<decision::Decision> decision(const std::string& plugin, decision::Outcome outcome) {
    std::optional<decision::Decision> found;
    for (const decision::Decision& one : stage.governor().decisions())
      if (one.plugin == plugin && one.outcome == outcome) found = one;
    return found;
  }
};

}  // namespace

TEST_CASE("a strategy is in shadow by default: its intents are recorded, and nothing is written") {
  for (config::Isolation isolation : kIsolations) {
    Strategies strategies;
    strategies.isolation = isolation;
    strategies.configure(kA, R"({"value": "20000 100000"})");
    REQUIRE(strategies.begin("Deputya=true"));
    CHECK(eventually([&] { return strategies.reported("a", kA) == KOORD_E_DENIED; }));
    CHECK(strategies.value() == kBefore);
    auto recorded = strategies.decision(kA, decision::Outcome::shadow);
    REQUIRE(recorded);
    CHECK(recorded->reason == "because of a");
    CHECK(recorded->inputs == decltype(recorded->inputs){{"busy", "7.3"}});
    CHECK(recorded->before == kBefore);
    CHECK(recorded->wanted == "20000 100000");
  }
}

TEST_CASE("acceptance 12: a strategy changes a cgroup value through propose alone, and its end reverts it") {
  for (config::Isolation isolation : kIsolations) {
    Strategies strategies;
    strategies.isolation = isolation;
    strategies.configure(kA, R"({"value": "20000 100000"})");
    REQUIRE(strategies.begin("Deputya=true"));
    strategies.enforce(kA);
    CHECK(eventually([&] { return strategies.value() == "20000 100000"; }));
    CHECK(eventually([&] { return strategies.reported("a", kA) == KOORD_OK; }));
    strategies.stage.apply("Deputya=false");
    REQUIRE(strategies.stage.await(kA, PluginState::disabled));
    CHECK(strategies.value() == kBefore);
  }
}

TEST_CASE("a role and a request for a base work through the process boundary") {
  for (config::Isolation isolation : kIsolations) {
    Strategies strategies;
    strategies.isolation = isolation;
    strategies.configure(kA, R"({"value": "1.5", "role": 2})");
    strategies.configure(kB, R"({"value": "base", "role": 3})");
    knob::Subjects subjects;
    subjects.add("be/pod", {"u", "shop", "web"});
    strategies.stage.governor().set_subjects(std::make_shared<const knob::Subjects>(subjects));
    REQUIRE(strategies.begin("Deputya=true"));
    strategies.enforce(kA);
    CHECK(eventually([&] { return strategies.value() == "75000 100000"; }));
    strategies.stage.apply("Deputya=true,Deputyb=true");
    REQUIRE(eventually([&] { return strategies.decision(kB, decision::Outcome::shadow).has_value(); }));
    strategies.enforce(kA);
    strategies.enforce(kB);
    REQUIRE(eventually([&] { return strategies.decision(kB, decision::Outcome::applied).has_value(); }));
    CHECK(strategies.decision(kB, decision::Outcome::applied)->wanted == kBefore);
    CHECK(strategies.value() == kBefore);  // the cap limits it to its base
    // The factor is applied below the cap, and the cap decides the value.
    CHECK(eventually([&] { return strategies.decision(kA, decision::Outcome::applied)->winner == kB; }));
  }
}

TEST_CASE("acceptance 13: two strategies, one knob: one value, the loser learns the winner, and it ends with its ttl") {
  for (config::Isolation isolation : kIsolations) {
    Strategies strategies;
    strategies.isolation = isolation;
    strategies.configure(kA, R"({"value": "20000 100000"})");
    strategies.configure(kB, R"({"value": "40000 100000"})");
    REQUIRE(strategies.begin());
    strategies.enforce(kA);
    strategies.enforce(kB);
    CHECK(eventually([&] { return strategies.reported("b", kA) == KOORD_E_AGAIN; }));
    CHECK(eventually([&] { return strategies.reported("a", kA) == KOORD_OK; }));
    CHECK(strategies.value() == "20000 100000");
    REQUIRE(strategies.decision(kA, decision::Outcome::applied));
    REQUIRE(strategies.decision(kB, decision::Outcome::lost));
    CHECK(strategies.decision(kA, decision::Outcome::applied)->reason == "because of a");
    CHECK(strategies.decision(kB, decision::Outcome::lost)->reason == "because of b");
    CHECK(strategies.decision(kB, decision::Outcome::lost)->winner == kA);

    // From now on both propose nothing: their last proposals stay valid until they expire.
    for (const char* id : {kA, kB}) strategies.configure(id, R"({"silent": true})");
    strategies.stage.apply("Deputya=true,Deputyb=true");
    for (const char* id : {kA, kB}) {
      strategies.enforce(id);
      CHECK(eventually([&] { return strategies.stage.status(id).counts.errors > 1; }));
    }
    strategies.stage.governor().expire();
    CHECK(strategies.value() == "20000 100000");
    strategies.stage.host().clock().advance(60s);
    strategies.stage.governor().expire();
    CHECK(strategies.value() == kBefore);
    const auto reverted = strategies.decision(kA, decision::Outcome::reverted);  // the last holder
    REQUIRE(reverted);
    CHECK(reverted->before == "20000 100000");
    CHECK(reverted->after == kBefore);
  }
}

TEST_CASE("the writes of a strategy are reverted when its process dies") {
  Strategies strategies;
  strategies.configure(kA, R"({"value": "20000 100000"})");
  REQUIRE(strategies.begin("Deputya=true"));
  strategies.enforce(kA);
  REQUIRE(eventually([&] { return strategies.value() == "20000 100000"; }));
  for (const host::InstanceStatus& instance : strategies.stage.status(kA).instances) ::kill(instance.process, SIGKILL);
  CHECK(eventually([&] { return strategies.decision(kA, decision::Outcome::reverted).has_value(); }));
  CHECK(eventually([&] { return strategies.value() == "20000 100000"; }));  // proposed by the restarted plugin
}

TEST_CASE("a strategy's eviction requests reach the host with either isolation, unless its evaluate() fails") {
  for (config::Isolation isolation : kIsolations) {
    Strategies strategies;
    strategies.isolation = isolation;
    strategies.configure(kA, R"({"value": "20000 100000", "evict": 7})");
    strategies.configure(kB, R"({"silent": true, "evict": 7})");
    REQUIRE(strategies.begin());
    CHECK(eventually([&] { return !strategies.stage.evictions().newest(kA).empty(); }));
    CHECK(strategies.stage.evictions().newest(kA) ==
          std::vector{evict::Request{{7, 8}, "cpu", "because of a", 1500, {{"feature", "CPUEvict"}}}});
    CHECK(eventually([&] { return strategies.stage.status(kB).counts.errors > 0; }));
    CHECK(strategies.stage.evictions().newest(kB).empty());
  }
}
