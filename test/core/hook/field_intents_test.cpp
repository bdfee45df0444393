// SPDX-License-Identifier: Apache-2.0
#include "core/hook/field_intents.hpp"

#include <doctest/doctest.h>

#include "core/knob/composition.hpp"

using namespace koord;
using namespace koord::hook;

namespace {

AnswerTarget target() {
  return {.level = knob::Level::container, .cgroup_dir = "pod/main", .reason = "the answer for container main of shop/web", .priority = 7,
          .ttl = std::chrono::minutes(1)};
}

}  // namespace

TEST_CASE("each field that is a knob becomes the base of that knob, in the knob's own form") {
  struct Row {
    const char *field, *value, *knob, *as_knob;
  };
  for (const Row& row : {Row{"linux.cpu.shares", "512", "cpu.shares", "512"}, Row{"linux.cpu.quota", "20000", "cpu.max", "20000 100000"},
                         Row{"linux.cpu.quota", "-1", "cpu.max", "max"}, Row{"linux.cpuset.cpus", "0-3,8", "cpuset.cpus", "0-3,8"},
                         Row{"linux.cpu.idle", "1", "cpu.idle", "1"}, Row{"linux.cpu.bvt_warp_ns", "-1", "cpu.bvt_warp_ns", "-1"},
                         Row{"linux.cpuset.mems", "0", "cpuset.mems", "0"}, Row{"linux.rdt.closid", "koord-a", "resctrl.group", "koord-a"},
                         Row{"linux.memory.limit", "1048576", "memory.max", "1048576"}, Row{"linux.memory.limit", "-1", "memory.max", "max"}}) {
    CAPTURE(row.field);
    CAPTURE(row.value);
    const FieldIntents found = intents_of({.fields = {{row.field, row.value}}}, target());
    REQUIRE(found.plan.size() == 1);
    const knob::Intent& intent = found.plan[0];
    CHECK(intent.knob == row.knob);
    CHECK(intent.value == row.as_knob);
    CHECK(intent.role == knob::Role::base);
    CHECK(intent.cgroup_dir == "pod/main");
    CHECK(intent.level == knob::Level::container);
    CHECK(intent.priority == 7);
    CHECK(intent.ttl == std::chrono::minutes(1));
    CHECK(found.creation_only.empty());
    // The governor takes it.
    CHECK(knob::make_proposal({"hook-a", "main"}, intent));
  }
}

TEST_CASE("fields that only a creation can apply are named, and are no intents") {
  const FieldIntents found = intents_of({.fields = {{"env:A", "1"}, {"linux.cpu.shares", "2"}, {"annotation:b", "2"}}}, target());
  CHECK(found.plan.size() == 1);
  CHECK(found.creation_only == std::vector<std::string>{"env:A", "annotation:b"});
}

TEST_CASE("a quota takes the period that the hook gives") {
  const FieldIntents found = intents_of({.fields = {{"linux.cpu.quota", "5000"}, {"linux.cpu.period", "50000"}}}, target());
  REQUIRE(found.plan.size() == 1);
  CHECK(found.plan[0].value == "5000 50000");
}

TEST_CASE("a factor becomes a scale of the knob") {
  const FieldIntents found = intents_of({.scales = {{"linux.cpu.quota", 0.8}}}, target());
  REQUIRE(found.plan.size() == 1);
  CHECK(found.plan[0].knob == "cpu.max");
  CHECK(found.plan[0].value == "0.8");
  CHECK(found.plan[0].role == knob::Role::scale);
  CHECK(knob::make_proposal({"hook-a", "main"}, found.plan[0]));
}
