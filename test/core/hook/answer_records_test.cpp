// SPDX-License-Identifier: Apache-2.0
#include "core/hook/answer_records.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/utf8.hpp"
#include "core/hook/creation.hpp"
#include "koordetector/plugin.h"

using namespace koord;
using namespace koord::hook;
using decision::Outcome;
using Records = std::vector<decision::Decision>;

namespace {

state::Pod shop_pod() {
  state::Pod pod;
  pod.uid = "u1";
  pod.namespace_ = "shop";
  pod.name = "web";
  return pod;
}

state::Container main_container() {
  state::Container container;
  container.name = "main";
  container.cgroup_dir = "kubepods/podu1/abc";
  return container;
}

struct Answered {
  state::Pod pod = shop_pod();
  state::Container container = main_container();
  Requested requested = requested_of({.annotations = {{"key", "old"}},
                                      .env = {"SECRET=hunter2"},
                                      .resources = {.cpu_shares = 2, .cpu_quota_us = 100000, .cpu_period_us = 100000}});

  Records records(host::HookVerdict answered, const std::optional<host::HookVerdict>& given = {}) const {
    answered.stage = KOORD_STAGE_PRE_CREATE_CONTAINER;
    const host::HookVerdict& made = given ? *given : answered;
    return records_of({.asked_by = "NRI",
                       .pod = pod,
                       .container = &container,
                       .requested = requested,
                       .resources = resources_of(made, requested.resources, false)},
                      answered, made);
  }
};

using Inputs = std::vector<std::pair<std::string, std::string>>;

}  // namespace

TEST_CASE_FIXTURE(Answered, "a field that the runtime gets: hook, stage, requested and given value, mode") {
  const Records made = records({.settings = {{"linux.cpu.shares", "512", "batch"}}});
  REQUIRE(made.size() == 1);
  CHECK(made[0].kind == decision::DecisionKind::hook);
  CHECK(made[0].plugin == "batch");
  CHECK(made[0].knob == "linux.cpu.shares");
  CHECK(made[0].before == "2");
  CHECK(made[0].wanted == "512");
  CHECK(made[0].after == "512");
  CHECK(made[0].outcome == Outcome::applied);
  CHECK(made[0].pod_name == "web");
  CHECK(made[0].container == "main");
  CHECK(made[0].cgroup_dir == "kubepods/podu1/abc");
  CHECK(made[0].inputs == Inputs{{"stage", "PreCreateContainer"}, {"asked by", "NRI"}, {"mode", "enforce"}});
}

TEST_CASE_FIXTURE(Answered, "a factor has the composed value and its parts") {
  const Records made = records({.scales = {{"linux.cpu.quota", 0.8, "normalization"}}});
  REQUIRE(made.size() == 1);
  CHECK(made[0].role == decision::Role::scale);
  CHECK(made[0].before == "100000");
  CHECK(made[0].after == "80000");
  CHECK(made[0].composition == "linux.cpu.quota 80000 = 100000 (requested) × 0.8 (normalization)");
}

TEST_CASE_FIXTURE(Answered, "answers that the runtime does not get have the reason") {
  const host::HookVerdict answered{.rejection = std::nullopt,
                                   .settings = {{"env:A", "1", "gpu"}},
                                   .in_shadow = {{"linux.cpu.quota", "× 0.8", "shy"}, {"reject", "no device", "shy"}},
                                   .conflicts = {{"env:A", "2", "second", "gpu"}},
                                   .silent = {{"sleepy", "did not answer within 160ms", true}}};
  const Records made = records(answered, host::HookVerdict{.conflicts = answered.conflicts});
  REQUIRE(made.size() == 5);
  CHECK((made[0].outcome == Outcome::failed && made[0].problem == "did not answer within 160ms"));
  CHECK((made[1].outcome == Outcome::lost && made[1].winner == "gpu" && made[1].wanted == "2"));
  CHECK((made[2].outcome == Outcome::hands_off && made[2].after.empty()));
  CHECK((made[3].outcome == Outcome::shadow && made[3].wanted == "× 0.8" && made[3].after.empty()));
  CHECK((made[4].outcome == Outcome::shadow && made[4].wanted == "reject" && made[4].reason == "no device"));
  CHECK(made[4].inputs.back() == std::pair<std::string, std::string>{"mode", "shadow"});
}

TEST_CASE_FIXTURE(Answered, "a rejection is recorded with its text, which is cut and cannot reach a terminal") {
  const Records made =
      records({.rejection = host::HookVerdict::Rejection{"gpu", "\x1b[2J\n" + std::string(1 << 20, 'x')}});
  REQUIRE(made.size() == 1);
  CHECK(made[0].outcome == Outcome::refused);
  CHECK(made[0].reason.starts_with("?[2J?xxx"));
  CHECK(made[0].reason.size() <= kMostRecordText);
}

TEST_CASE_FIXTURE(Answered, "the value of a variable of the spec is not recorded: it may be a secret") {
  const Records made = records({.settings = {{"env:SECRET", "other", "a"}, {"annotation:key", "new", "a"}}});
  REQUIRE(made.size() == 2);
  CHECK(made[0].before == "(set)");
  CHECK(made[1].before == "old");
}

TEST_CASE_FIXTURE(Answered, "a hook with very many or very long fields makes a limited number of short records") {
  host::HookVerdict answered;
  for (int i = 0; i < 256; ++i)
    answered.settings.push_back({"env:" + std::to_string(i) + std::string(1000, 'n'), std::string(65536, 'v'), "wild"});
  const Records made = records(answered);
  REQUIRE(made.size() == kMostRecords);
  CHECK(made.back().inputs.back() == std::pair<std::string, std::string>{"records left out", "192"});
  for (const decision::Decision& one : made) {
    CHECK(one.knob.size() <= kMostRecordText);
    CHECK(one.wanted.size() <= kMostRecordText);
  }
}

TEST_CASE_FIXTURE(Answered, "of two hooks that set one knob the stricter value is given, and the other is lost to it") {
  host::HookVerdict answered{.settings = {{"linux.memory.limit", "67108864", "batch"}},
                             .conflicts = {{"linux.memory.limit", "33554432", "rival", "batch"}}};
  host::HookVerdict given = answered;
  choose_settings(given);
  const Records made = records(answered, given);
  REQUIRE(made.size() == 2);
  CHECK((made[0].outcome == Outcome::lost && made[0].plugin == "batch" && made[0].winner == "rival"));
  CHECK((made[1].outcome == Outcome::applied && made[1].plugin == "rival" && made[1].after == "33554432"));
}
