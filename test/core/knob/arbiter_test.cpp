// SPDX-License-Identifier: Apache-2.0
#include "core/knob/arbiter.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::knob;

namespace {

Wish wish(std::string plugin, std::string knob, std::string value, std::int32_t priority = 0, std::string dir = "be") {
  Wish made;
  made.proposer = {std::move(plugin), "main"};
  made.intent.cgroup_dir = std::move(dir);
  made.intent.value = value;
  made.intent.priority = priority;
  made.knob = find_knob(knob);
  made.value = *parse_value(*made.knob, value);
  return made;
}

// The plugin that wins the one contest there is.
std::string winner_of(std::vector<Wish> wishes) {
  std::vector<Wish*> all;
  for (Wish& each : wishes) all.push_back(&each);
  std::vector<Contest> contests = arbitrate(all);
  REQUIRE(contests.size() == 1);
  return contests[0].front()->proposer.plugin;
}

}  // namespace

TEST_CASE("the highest priority wins, whatever its value") {
  CHECK(winner_of({wish("a", "cpu.max", "10000 100000", 1), wish("b", "cpu.max", "90000 100000", 2)}) == "b");
}

TEST_CASE("among equals the strictest value wins") {
  CHECK(winner_of({wish("a", "cpu.max", "20000 100000"), wish("b", "cpu.max", "10000 100000")}) == "b");
  CHECK(winner_of({wish("a", "cpuset.cpus", "0-3"), wish("b", "cpuset.cpus", "4-5")}) == "b");
  CHECK(winner_of({wish("a", "memory.min", "4096"), wish("b", "memory.min", "8192")}) == "b");
}

TEST_CASE("among equal values the first by name wins, and the other holds, too") {
  Wish b = wish("b", "cpu.max", "10000 100000"), a = wish("a", "cpu.max", "10000 100000");
  std::vector<Contest> contests = arbitrate({&b, &a});
  REQUIRE(contests.size() == 1);
  CHECK(contests[0].front() == &a);
  CHECK(agrees(a, b));
}

TEST_CASE("two names of one resource are one contest") {
  CHECK(winner_of({wish("a", "cpu.shares", "1024"), wish("b", "cpu.weight", "1")}) == "b");
  CHECK_FALSE(agrees(wish("b", "cpu.weight", "1"), wish("a", "cpu.shares", "2")));
}

TEST_CASE("other knobs and other cgroups are other contests") {
  Wish a = wish("a", "cpu.max", "max"), b = wish("b", "memory.high", "max"), c = wish("c", "cpu.max", "max", 0, "ls");
  CHECK(arbitrate({&a, &b, &c}).size() == 3);
}

TEST_CASE("other devices of one file are other contests") {
  Wish a = wish("a", "io.max", "8:16 rbps=1000"), b = wish("b", "io.max", "8:32 rbps=1000"), c = wish("c", "io.max", "8:16 rbps=500");
  std::vector<Contest> contests = arbitrate({&a, &b, &c});
  REQUIRE(contests.size() == 2);
  CHECK(contests[0].front() == &c);
  CHECK(contests[1].front() == &b);
}
