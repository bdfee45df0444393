// SPDX-License-Identifier: Apache-2.0
#include "core/hook/field_intents.hpp"

#include <doctest/doctest.h>

#include "core/knob/knob.hpp"

using namespace koord;
using namespace koord::hook;

namespace {

AnswerTarget target() {
  return {.level = decision::Level::container,
          .cgroup_dir = "pod/main",
          .reason = "the answer for container main of shop/web",
          .priority = 7,
          .ttl = std::chrono::minutes(1)};
}

}  // namespace

TEST_CASE("each field that is a knob becomes the base of that knob, in the knob's own form") {
  struct Row {
    const char *field, *value, *knob, *as_knob;
  };
  for (const Row& row :
       {Row{"linux.cpu.shares", "512", "cpu.shares", "512"}, Row{"linux.cpu.quota", "20000", "cpu.max", "20000 100000"},
        Row{"linux.cpu.quota", "-1", "cpu.max", "max"}, Row{"linux.cpuset.cpus", "0-3,8", "cpuset.cpus", "0-3,8"},
        Row{"linux.cpu.idle", "1", "cpu.idle", "1"}, Row{"linux.cpu.bvt_warp_ns", "-1", "cpu.bvt_warp_ns", "-1"},
        Row{"linux.cpuset.mems", "0", "cpuset.mems", "0"},
        Row{"linux.rdt.closid", "koord-a", "resctrl.group", "koord-a"},
        Row{"linux.net_cls.classid", "4294967295", "net_cls.classid", "4294967295"},
        Row{"linux.oom_score_adj", "-998", "oom_score_adj", "-998"},
        Row{"linux.core_sched.group", "group/a b", "core_sched.group", "group/a b"},
        Row{"linux.core_sched.group", "", "core_sched.group", ""},
        Row{"linux.memory.limit", "1048576", "memory.max", "1048576"},
        Row{"linux.memory.limit", "-1", "memory.max", "max"}}) {
    CAPTURE(row.field);
    CAPTURE(row.value);
    const knob::Plan plan = intents_of({.fields = {{row.field, row.value}}}, target());
    REQUIRE(plan.size() == 1);
    const knob::Intent& intent = plan[0];
    CHECK(intent.knob->name == row.knob);
    CHECK(intent.value == row.as_knob);
    CHECK(intent.role == decision::Role::base);
    CHECK(intent.cgroup_dir == "pod/main");
    CHECK(intent.level == decision::Level::container);
    CHECK(intent.priority == 7);
    CHECK(intent.ttl == std::chrono::minutes(1));
  }
}

TEST_CASE("a factor that would throttle a container on its own CPUs is left out, others are not") {
  AnswerTarget own = target();
  own.has_own_cpus = true;
  const host::HookSettings answer{.fields = {{"linux.cpu.shares", "512"}},
                                  .scales = {{"linux.cpu.quota", 0.8}, {"linux.memory.limit", 0.5}}};
  const auto knobs_of = [&](const AnswerTarget& to) {
    std::string names;
    for (const knob::Intent& intent : intents_of(answer, to)) names += std::string(intent.knob->name) + " ";
    return names;
  };
  CHECK(knobs_of(target()) == "cpu.shares cpu.max memory.max ");
  CHECK(knobs_of(own) == "cpu.shares memory.max ");
  CHECK(intents_of({.scales = {{"linux.cpu.quota", 1.5}}}, own).size() == 1);
}

TEST_CASE("fields without an effect on an existing pod are not kept, and neither are values longer than any knob's") {
  host::HookSettings answer{.fields = {{"env:A", "1"},
                                       {"linux.cpu.shares", "2"},
                                       {"annotation:b", "2"},
                                       {"linux.cpu.period", "50000"},
                                       {"device:/dev/fuse", "c 10:229"},
                                       {"mount:/run/lock", "/run/lock"},
                                       {"linux.memory.swap", "5"},
                                       {"linux.cpuset.cpus", std::string(5000, '1')}}};
  keep_knobs(answer);
  CHECK(answer.fields == decltype(answer.fields){{"linux.cpu.shares", "2"}, {"linux.cpu.period", "50000"}});
  CHECK(intents_of(answer, target()).size() == 1);
}

TEST_CASE("scores and core groups of a pod's sandbox are no intents: they are knobs of containers") {
  AnswerTarget pod = target();
  pod.level = decision::Level::pod;
  CHECK(intents_of({.fields = {{"linux.oom_score_adj", "5"}, {"linux.core_sched.group", "a"}}}, pod).empty());
}

TEST_CASE("a quota takes the period that the hook gives") {
  const knob::Plan plan =
      intents_of({.fields = {{"linux.cpu.quota", "5000"}, {"linux.cpu.period", "50000"}}}, target());
  REQUIRE(plan.size() == 1);
  CHECK(plan[0].value == "5000 50000");
}

TEST_CASE("a factor becomes a scale of the knob") {
  const knob::Plan plan = intents_of({.scales = {{"linux.cpu.quota", 0.8}}}, target());
  REQUIRE(plan.size() == 1);
  CHECK(plan[0].knob->name == "cpu.max");
  CHECK(plan[0].value == "0.8");
  CHECK(plan[0].role == decision::Role::scale);
  CHECK(plan[0].factor == 0.8);
}

TEST_CASE(
    "names of fields that only a creation sets are limited in number and length; knobs and swap are not among them") {
  host::HookSettings answer{.fields = {{"linux.cpu.shares", "2"},
                                       {"env:A", "1"},
                                       {"annotation:b", "1"},
                                       {"device:/dev/fuse", "c 10:229"},
                                       {"mount:/m", "/m ro"},
                                       {"linux.memory.swap", "-1"}}};
  CHECK(creation_fields(answer) == std::vector<std::string>{"env:A", "annotation:b", "device:/dev/fuse", "mount:/m"});
  answer.fields.assign(100, {"env:" + std::string(200, 'A'), ""});
  CHECK(creation_fields(answer).size() == 32);
  CHECK(creation_fields(answer)[0].size() == 128);
}
