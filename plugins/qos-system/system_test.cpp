// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "plugins/qos-system/system_knobs.hpp"
#include "test/support/fake_host.hpp"

using namespace koord;
using koord::strategy::Intent;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kGi = 1 << 30;

std::vector<std::string> shown(const system_knobs::Plan& plan) {
  std::vector<std::string> lines;
  for (const Intent& intent : plan.intents) {
    CHECK(intent.level == KOORD_LEVEL_NODE);
    CHECK(intent.cgroup_dir.empty());
    lines.push_back(intent.knob + " = " + intent.value);
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("an empty section proposes nothing") {
  const system_knobs::Plan plan = system_knobs::plan({}, 16 * kGi);
  CHECK(plan.intents.empty());
  CHECK(plan.problems.empty());
}

TEST_CASE("free memory: 100 ten-thousandths of 16 GiB are 167772 KiB") {
  const system_knobs::Plan plan = system_knobs::plan({.min_free_kbytes_factor = 100}, 16 * kGi);
  CHECK(shown(plan) == Lines{"vm.min_free_kbytes = 167772"});
  CHECK(plan.intents[0].reason == "100 ten-thousandths of the node's memory, by systemStrategy.minFreeKbytesFactor");
}

TEST_CASE(
    "free memory that is too little, too much or more than a twentieth of the node is not proposed, and reported") {
  CHECK(system_knobs::plan({.min_free_kbytes_factor = 1}, 16 * kGi).problems ==
        Lines{"systemStrategy.minFreeKbytesFactor: found 1, which makes 1677 KiB on this node, expected a factor for "
              "an amount from 10240 to 838860 KiB"});
  CHECK(system_knobs::plan({.min_free_kbytes_factor = 501}, 16 * kGi).intents.empty());
  CHECK(system_knobs::plan({.min_free_kbytes_factor = 200}, 1024 * kGi).problems.size() == 1);
  CHECK(system_knobs::plan({.min_free_kbytes_factor = INT64_MAX}, INT64_MAX).intents.empty());
}

TEST_CASE("for a node with unknown memory no free memory is computed") {
  const system_knobs::Plan plan =
      system_knobs::plan({.min_free_kbytes_factor = 100, .watermark_scale_factor = 150}, std::nullopt);
  CHECK(shown(plan) == Lines{"vm.watermark_scale_factor = 150"});
  CHECK(plan.problems.empty());
}

TEST_CASE("plain values are proposed unchanged") {
  const slo::System strategy{.watermark_scale_factor = 9,
                             .memcg_reap_background = 1,
                             .sched_group_identity_enabled = 0,
                             .sched_idle_saver_wmark = 5000,
                             .page_cache_limit_enabled = 1};
  CHECK(shown(system_knobs::plan(strategy, {})) ==
        Lines{"vm.watermark_scale_factor = 9", "memcg_reaper.reap_background = 1",
              "kernel.sched_group_identity_enabled = 0", "kernel.sched_idle_saver_wmark = 5000",
              "pagecache_limit.enabled = 1"});
}

TEST_CASE("a value that every kernel refuses is not proposed but reported") {
  const system_knobs::Plan plan =
      system_knobs::plan({.sched_group_identity_enabled = 2, .sched_idle_saver_wmark = -1}, {});
  CHECK(plan.intents.empty());
  CHECK(plan.problems.size() == 2);
  CHECK(plan.problems[0] == "systemStrategy.schedGroupIdentityEnabled: found 2, expected a number from 0 to 1");
}

TEST_CASE("each feature of the scheduler is a separate intent, and an unknown name is reported") {
  const slo::System strategy{
      .sched_features = {{"ID_EXPELLER_SHARE_CORE", false}, {"SIS_UTIL", true}, {"NO_X", true}, {"a\nb", true}}};
  const system_knobs::Plan plan = system_knobs::plan(strategy, {});
  CHECK(shown(plan) == Lines{"sched_features = NO_ID_EXPELLER_SHARE_CORE", "sched_features = SIS_UTIL"});
  CHECK(plan.problems.size() == 2);
}

TEST_CASE("a knob that this kernel lacks is not proposed again for ten minutes, but other knobs are") {
  test::FakeNode node;
  test::FakeHost host(node);
  test::FakeInstance strategy(host, koord_entry_v1());
  REQUIRE(strategy.init() == KOORD_OK);
  host.hub().publish({.node_slo = R"({"systemStrategy":{"watermarkScaleFactor":150,"memcgReapBackGround":1}})"});
  const auto proposed = [&] {
    REQUIRE(strategy.evaluate() == KOORD_OK);
    Lines knobs;
    for (const knob::Intent& intent : host.context().take_plan()) knobs.emplace_back(intent.knob->name);
    return knobs;
  };
  CHECK(proposed() == Lines{"vm.watermark_scale_factor", "memcg_reaper.reap_background"});
  REQUIRE(strategy.on_applied({{decision::Outcome::applied, "vm.watermark_scale_factor", "", "150", "qos-system"},
                               {decision::Outcome::unsupported, "memcg_reaper.reap_background", "", "", ""}}) ==
          KOORD_OK);
  CHECK(proposed() == Lines{"vm.watermark_scale_factor"});
  host.clock().advance(std::chrono::minutes(10));
  CHECK(proposed() == Lines{"vm.watermark_scale_factor", "memcg_reaper.reap_background"});
}

TEST_CASE("the plugin proposes the NodeSLO's values for the node's own memory, and nothing if it has none any more") {
  test::FakeNode node;
  test::FakeHost host(node);
  test::FakeInstance strategy(host, koord_entry_v1());
  REQUIRE(strategy.init() == KOORD_OK);
  state::Node of_node;
  of_node.capacity["memory"] = 16 * kGi;
  host.hub().publish({.node = of_node, .node_slo = R"({"systemStrategy":{"minFreeKbytesFactor":100}})"});
  REQUIRE(strategy.evaluate() == KOORD_OK);
  const knob::Plan plan = host.context().take_plan();
  REQUIRE(plan.size() == 1);
  CHECK(plan[0].knob->name == "vm.min_free_kbytes");
  CHECK(plan[0].level == decision::Level::node);
  CHECK(plan[0].value == "167772");
  host.hub().publish({.node_slo = "{}"});
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(host.context().take_plan().empty());
}
