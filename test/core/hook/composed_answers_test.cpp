// SPDX-License-Identifier: Apache-2.0
#include "core/hook/composed_answers.hpp"

#include <doctest/doctest.h>

#include <iterator>

#include "core/hook/creation.hpp"
#include "core/hook/field_intents.hpp"
#include "test/support/made_intent.hpp"

using namespace koord;
using namespace koord::hook;

namespace {

using Setting = host::HookVerdict::Setting;

// The answers of hook-a, hook-b, …
using Answers = std::vector<host::HookSettings>;

std::string plugin_name(std::size_t i) { return std::string("hook-") + static_cast<char>('a' + i); }

// Merges answers as the dispatcher does.
host::HookVerdict verdict_of(const Answers& answers) {
  host::HookVerdict verdict;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    for (const auto& [field, factor] : answers[i].scales) verdict.scales.push_back({field, factor, plugin_name(i)});
    for (const auto& [field, value] : answers[i].fields) {
      const Setting* known = nullptr;
      for (const Setting& one : verdict.settings)
        if (one.field == field) known = &one;
      if (known == nullptr)
        verdict.settings.push_back({field, value, plugin_name(i)});
      else if (known->value == value)
        verdict.agreed.push_back({field, value, plugin_name(i)});
      else
        verdict.conflicts.push_back({field, value, plugin_name(i), known->plugin});
    }
  }
  return verdict;
}

knob::Intent proposed_by(std::string plugin, knob::Intent intent) {
  intent.proposer = std::make_shared<const decision::Proposer>(decision::Proposer{std::move(plugin), "main"});
  return intent;
}

// Returns the value that the governor computes from the stored answers; "" if no hook changes it.
std::string kept_value(const Answers& answers, std::string_view name, const std::string& base) {
  knob::Plan intents;
  for (std::size_t i = 0; i < answers.size(); ++i)
    for (knob::Intent& intent :
         intents_of(answers[i], {.level = decision::Level::container, .cgroup_dir = "c", .priority = kHookPriority}))
      if (intent.knob->name == name) intents.push_back(proposed_by(plugin_name(i), std::move(intent)));
  if (intents.empty()) return {};
  std::vector<const knob::Intent*> pointers;
  for (const knob::Intent& one : intents) pointers.push_back(&one);
  const knob::Knob& knob = *knob::find_knob(name);
  const knob::Composition made = *knob::compose(pointers, {}, [&]() -> Result<knob::Base> {
    return knob::Base{&knob, *knob::parse_value(knob, base), "request"};
  });
  return knob::spell(knob, made.value);
}

std::string created_value(const Answers& answers, std::string_view field, const std::string& base) {
  host::HookVerdict verdict = verdict_of(answers);
  choose_settings(verdict);
  const std::optional<knob::Value> value = compose_field(verdict, field, base, {});
  return value ? knob::spell(*knob::find_knob(knob_of(field)), *value) : std::string();
}

std::string conflict_text(const host::HookVerdict& verdict) {
  std::string text;
  for (const auto& one : verdict.conflicts)
    text += one.field + "=" + one.value + " of " + one.plugin + ", kept by " + one.kept_by + "; ";
  return text;
}

}  // namespace

TEST_CASE("a container gets at its creation the values that kept answers of the same hooks give it") {
  const std::vector<host::HookSettings> of_quota = {
      {},
      {.fields = {{"linux.cpu.quota", "80000"}}},
      {.fields = {{"linux.cpu.quota", "30000"}, {"linux.cpu.period", "50000"}}},
      {.fields = {{"linux.cpu.quota", "70000"}, {"linux.cpu.period", "50000"}}},
      {.fields = {{"linux.cpu.quota", "-1"}}},
      {.fields = {{"linux.cpu.period", "20000"}}},
      {.scales = {{"linux.cpu.quota", 0.8}}},
      {.scales = {{"linux.cpu.quota", 0.333}}},
      {.fields = {{"linux.cpu.quota", "1001"}}, .scales = {{"linux.cpu.quota", 0.5}}}};
  for (const std::string base : {"50000 100000", "max 100000", "7001 50000"})
    for (const auto& a : of_quota)
      for (const auto& b : of_quota)
        for (const auto& c : of_quota)
          CHECK(created_value({a, b, c}, "linux.cpu.quota", base) == kept_value({a, b, c}, "cpu.max", base));
  const std::vector<host::HookSettings> of_memory = {{},
                                                     {.fields = {{"linux.memory.limit", "1048576"}}},
                                                     {.fields = {{"linux.memory.limit", "-1"}}},
                                                     {.scales = {{"linux.memory.limit", 1.5}}}};
  for (const auto& a : of_memory)
    for (const auto& b : of_memory)
      CHECK(created_value({a, b}, "linux.memory.limit", "4097") == kept_value({a, b}, "memory.max", "4097"));
  const std::vector<host::HookSettings> of_cpus = {{},
                                                   {.fields = {{"linux.cpuset.cpus", "0-3"}}},
                                                   {.fields = {{"linux.cpuset.cpus", "3,2"}}},
                                                   {.fields = {{"linux.cpuset.cpus", "5"}}}};
  for (const auto& a : of_cpus)
    for (const auto& b : of_cpus)
      CHECK(created_value({a, b}, "linux.cpuset.cpus", "0-7") == kept_value({a, b}, "cpuset.cpus", "0-7"));
  const std::vector<host::HookSettings> of_shares = {
      {}, {.fields = {{"linux.cpu.shares", "512"}}}, {.fields = {{"linux.cpu.shares", "2"}}}};
  for (const auto& a : of_shares)
    for (const auto& b : of_shares)
      CHECK(created_value({a, b}, "linux.cpu.shares", "1024") == kept_value({a, b}, "cpu.shares", "1024"));
}

TEST_CASE("the stricter of two values of one knob is set, and the other is a conflict that names both hooks") {
  host::HookVerdict verdict = verdict_of({{.fields = {{"linux.memory.limit", "200"}, {"linux.cpu.shares", "2"}}},
                                          {.fields = {{"linux.memory.limit", "100"}, {"linux.cpu.shares", "2"}}}});
  choose_settings(verdict);
  REQUIRE(verdict.settings.size() == 2);
  CHECK(verdict.settings[0].value == "100");
  CHECK(verdict.settings[0].plugin == "hook-b");
  CHECK(verdict.settings[1].plugin == "hook-a");
  CHECK(conflict_text(verdict) == "linux.memory.limit=200 of hook-a, kept by hook-b; ");
}

TEST_CASE("a quota has the period of its own hook; that of another hook is a conflict") {
  host::HookVerdict verdict = verdict_of({{.fields = {{"linux.cpu.quota", "80000"}, {"linux.cpu.period", "50000"}}},
                                          {.fields = {{"linux.cpu.quota", "90000"}}}});
  choose_settings(verdict);
  const nri::Resources resources = resources_of(verdict, {}, false);
  CHECK(resources.cpu_quota_us == 90000);
  CHECK(resources.cpu_period_us == 100000);
  CHECK(conflict_text(verdict) ==
        "linux.cpu.quota=80000 of hook-a, kept by hook-b; linux.cpu.period=50000 of hook-a, kept by hook-b; ");
}

TEST_CASE("the first plugin's value of a field that is not a knob is set") {
  host::HookVerdict verdict = verdict_of(
      {{.fields = {{"env:A", "2"}, {"mount:/m", "/a ro"}, {"annotation:k", "1"}, {"device:/dev/fuse", "c 10:229"}}},
       {.fields = {{"env:A", "1"}, {"mount:/m", "/b ro"}, {"annotation:k", "1"}, {"device:/dev/fuse", "c 1:3"}}}});
  choose_settings(verdict);
  for (const Setting& setting : verdict.settings) CHECK(setting.plugin == "hook-a");
  CHECK(conflict_text(verdict) == "env:A=1 of hook-b, kept by hook-a; mount:/m=/b ro of hook-b, kept by hook-a; "
                                  "device:/dev/fuse=c 1:3 of hook-b, kept by hook-a; ");
}

TEST_CASE("a hook that the pod's owner excludes leaves the field to the next") {
  host::HookVerdict verdict = verdict_of({{.fields = {{"env:A", "1"}, {"linux.cpu.shares", "2"}}},
                                          {.fields = {{"env:A", "2"}, {"linux.cpu.shares", "512"}}}});
  state::Pod pod;
  pod.annotations["koordetector.sh/hands-off"] = "hook-a";
  drop_hands_off(verdict, pod);
  choose_settings(verdict);
  REQUIRE(verdict.settings.size() == 2);
  for (const Setting& setting : verdict.settings) CHECK(setting.plugin == "hook-b");
  CHECK(verdict.conflicts.empty());
}

TEST_CASE("intents of strategies count at a creation, too: factors, and the cap of a cgroup around") {
  const auto others = [](const knob::Knob& knob) {
    knob::OtherParts parts;
    if (knob.name != "cpu.max") return parts;
    parts.intents.push_back(proposed_by("qos-cpu-burst", test::made_intent("cpu.max", "2", decision::Role::scale)));
    parts.cap = knob::Bound{&knob, *knob::parse_value(knob, "120000 100000"), "qos-cpu-suppress", "besteffort"};
    return parts;
  };
  const auto quota = [&](const host::HookSettings& answer, const nri::Resources& requested) {
    return resources_of(verdict_of({answer}), requested, false, others).cpu_quota_us;
  };
  CHECK(quota({.fields = {{"linux.cpu.quota", "50000"}}}, {}) == 100000);
  CHECK(quota({.fields = {{"linux.cpu.quota", "80000"}}}, {}) == 120000);
  CHECK(quota({.scales = {{"linux.cpu.quota", 0.5}}}, {.cpu_quota_us = 40000}) == 40000);
  CHECK(quota({.fields = {{"linux.cpu.shares", "2"}}}, {.cpu_quota_us = 40000}) == std::nullopt);
}

TEST_CASE("the weight of a strategy is left to the governor: the container gets its hook's shares") {
  const auto others = [](const knob::Knob& knob) {
    knob::OtherParts parts;
    if (knob.name == "cpu.shares")
      parts.intents.push_back(
          proposed_by("qos-interference", test::made_intent("cpu.weight", "1", decision::Role::cap)));
    return parts;
  };
  CHECK(resources_of(verdict_of({{.fields = {{"linux.cpu.shares", "512"}}}}), {}, true, others).cpu_shares == 512);
}

TEST_CASE("the limit of memory and swap together is never below that of memory, whichever hooks set them") {
  const auto swap = [](const std::string& limit, const std::string& of_swap) {
    return resources_of(
               verdict_of({{.fields = {{"linux.memory.limit", limit}}}, {.fields = {{"linux.memory.swap", of_swap}}}}),
               {}, false)
        .memory_swap_bytes;
  };
  CHECK(swap("200", "100") == 200);
  CHECK(swap("100", "200") == 200);
  CHECK(swap("-1", "100") == -1);
  CHECK(swap("100", "-1") == -1);
}
