// SPDX-License-Identifier: Apache-2.0
#include "core/knob/subjects.hpp"

#include <doctest/doctest.h>

using namespace koord::knob;
using namespace koord::decision;

TEST_CASE("a hands-off annotation covers all knobs, some or none") {
  CHECK(parse_hands_off("true") == HandsOff{.all = true});
  CHECK(parse_hands_off(" true ") == HandsOff{.all = true});
  CHECK(parse_hands_off("false") == HandsOff{});
  CHECK(parse_hands_off("") == HandsOff{});
  CHECK(parse_hands_off("cpu.max, qos-cpu-burst,,") == HandsOff{.names = {"cpu.max", "qos-cpu-burst"}});
}

TEST_CASE("a list of more than 32 names keeps hands off of everything, and a name that is repeated counts once") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "knob" + std::to_string(i) + ",";
  CHECK(parse_hands_off(text) == HandsOff{.all = true});
  text.clear();
  for (int i = 0; i < 1000; ++i) text += "cpu.idle,";
  CHECK(parse_hands_off(text + "cpu.max") == HandsOff{.names = {"cpu.idle", "cpu.max"}});
}

TEST_CASE("a knob's name covers all knobs that turn the same, a plugin's all of its intents") {
  const HandsOff weights = parse_hands_off("cpu.weight");
  CHECK(covers(weights, *find_knob("cpu.shares"), "qos-any"));
  CHECK_FALSE(covers(weights, *find_knob("cpu.max"), "qos-any"));
  const HandsOff plugin = parse_hands_off("qos-any");
  CHECK(covers(plugin, *find_knob("cpu.max"), "qos-any"));
  CHECK_FALSE(covers(plugin, *find_knob("cpu.max"), "qos-other"));
  CHECK(covers(parse_hands_off("true"), *find_knob("cpu.max"), "qos-any"));
}

TEST_CASE("a name of nothing is found") {
  CHECK(unknown_names(parse_hands_off("cpu.max,qos-any,cpu.mox"), {"qos-any"}) == std::vector<std::string>{"cpu.mox"});
}

TEST_CASE("a cgroup belongs to the nearest subject at it or above it") {
  Subjects subjects;
  subjects.add("a/pod", {"u", "shop", "web"});
  subjects.add("a/pod/app", {"u", "shop", "web", "app"});
  CHECK(subjects.of("a/pod")->container.empty());
  CHECK(subjects.of("a/pod/app")->container == "app");
  CHECK(subjects.of("a/pod/app/inner")->container == "app");
  CHECK(subjects.of("a/pod/other")->container.empty());
  CHECK(subjects.of("a") == nullptr);
  CHECK(subjects.of("a/podium") == nullptr);
  CHECK(subjects.of("") == nullptr);
}
