// SPDX-License-Identifier: Apache-2.0
#include "core/api/decision_json.hpp"

#include <doctest/doctest.h>

#include "core/base/manual_clock.hpp"

using namespace koord;
using namespace koord::api;
using namespace koord::decision;

TEST_CASE("the fields of a record have these names and this order") {
  Decision decision;
  decision.number = 7;
  decision.wall_ns = 1'700'000'000'123'456'789;
  decision.plugin = "qos-cpu-suppress", decision.strategy = "cpu-suppress";
  decision.cgroup_dir = "be", decision.knob = "cpu.max";
  decision.priority = 3, decision.reason = "the node is busy", decision.inputs = {{"node_cpu_usage", "7.3"}};
  decision.before = "max", decision.wanted = "1000 100000", decision.after = "2000 100000";
  decision.outcome = Outcome::lost, decision.winner = "other", decision.problem = "none";
  decision.role = Role::cap, decision.composition = "all of it";
  decision.pod_uid = "u1", decision.pod_namespace = "shop", decision.pod_name = "web", decision.container = "main";
  CHECK(boost::json::serialize(json_of(decision)) ==
        R"({"number":7,"kind":"knob","time":1.700000000123E9,"plugin":"qos-cpu-suppress","strategy":"cpu-suppress",)"
        R"("cgroup":"be","level":"qos","knob":"cpu.max","priority":3,"reason":"the node is busy",)"
        R"("inputs":{"node_cpu_usage":"7.3"},"before":"max","wanted":"1000 100000","after":"2000 100000",)"
        R"("result":"lost","winner":"other","problem":"none","role":"cap","composition":"all of it",)"
        R"("pod":{"uid":"u1","namespace":"shop","name":"web"},"container":"main"})");
}

TEST_CASE("the fields of an intent have these names and this order; unknown times are left out") {
  const ManualClock clock;
  knob::IntentView intent{.mode = Mode::enforce, .until = Time::max()};
  Decision& decision = intent.decision;
  decision.plugin = "qos-cpu-suppress", decision.strategy = "cpu-suppress";
  decision.role = Role::cap, decision.wanted = "1000 100000";
  decision.priority = 3, decision.reason = "the node is busy", decision.inputs = {{"node_cpu_usage", "7.3"}};
  decision.outcome = Outcome::lost, decision.winner = "other", decision.problem = "none";
  decision.composition = "all of it";
  knob::KnobView view;
  view.intents = {intent};
  decision.time = clock.now() - std::chrono::seconds(2);
  intent.until = clock.now() + std::chrono::seconds(2);
  view.intents.push_back(intent);
  const std::string fields =
      R"({"plugin":"qos-cpu-suppress","strategy":"cpu-suppress","mode":"enforce","role":"cap",)"
      R"("wanted":"1000 100000","priority":3,"reason":"the node is busy","inputs":{"node_cpu_usage":"7.3"},)"
      R"("result":"lost","winner":"other","problem":"none","composition":"all of it")";
  CHECK(boost::json::serialize(json_of(view, clock).at("intents")) ==
        "[" + fields + "}," + fields + R"(,"until":1.700000002E9,"since":1.699999998E9}])");
}
