// SPDX-License-Identifier: Apache-2.0
#include "core/knob/composition.hpp"

#include <doctest/doctest.h>

#include <deque>

#include "core/knob/role.hpp"
#include "test/support/made_intent.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;

namespace {

struct Composed {
  std::deque<Intent> intents;  // a deque, so the addresses stay the same
  Hierarchy hierarchy;
  std::string base = "100000 100000";
  bool was_base_asked = false;

  Composed& add(std::string plugin, Role role, std::string_view knob, std::string value, std::int32_t priority = 0) {
    Intent intent = test::made_intent(knob, std::move(value), role);
    intent.cgroup_dir = "be";
    intent.priority = priority;
    intent.ttl = std::chrono::minutes(1);
    intent.proposer = std::make_shared<const Proposer>(Proposer{std::move(plugin), "main"});
    intents.push_back(std::move(intent));
    return *this;
  }
  Composed& quota(std::string plugin, Role role, std::string value, std::int32_t priority = 0) {
    return add(std::move(plugin), role, "cpu.max", std::move(value), priority);
  }
  Composition result(std::string_view name = "cpu.max") {
    std::vector<const Intent*> all;
    for (const Intent& one : intents) all.push_back(&one);
    const Knob* knob = find_knob(name);
    Result<Composition> made = compose(all, hierarchy, [&]() -> Result<Base> {
      was_base_asked = true;
      return Base{knob, *parse_value(*knob, base), "limit 1"};
    });
    REQUIRE_MESSAGE(made, made.error().message());
    return *made;
  }
  std::string value(std::string_view name = "cpu.max") {
    const Composition made = result(name);
    return spell(*made.knob, made.value);
  }
};

std::string holding(const Composition& composition) {
  std::string text;
  for (const Verdict& verdict : composition.verdicts) text += (verdict.holds ? "+" : "-") + verdict.winner + " ";
  return text;
}

}  // namespace

TEST_CASE("a value is the base times all scales") {
  CHECK(Composed().quota("burst", Role::scale, "1.5").value() == "150000 100000");
  CHECK(Composed().quota("burst", Role::scale, "1.5").quota("normal", Role::scale, "0.5").value() == "75000 100000");
  CHECK(Composed().quota("burst", Role::scale, "1").value() == "100000 100000");
  CHECK(Composed().quota("hook", Role::base, "40000 100000").quota("burst", Role::scale, "2").value() ==
        "80000 100000");
}

TEST_CASE("no limit times a scale is no limit, and a cap applies to it") {
  Composed composed;
  composed.base = "max";
  CHECK(composed.quota("burst", Role::scale, "1.5").value() == "max 100000");
  CHECK(composed.quota("suppress", Role::cap, "30000 100000").value() == "30000 100000");
}

TEST_CASE("a scaled quota is at least what the kernel takes") {
  CHECK(Composed().quota("burst", Role::scale, "0.0001").value() == "1000 100000");
  CHECK(Composed()
            .quota("a", Role::scale, "1000")
            .quota("b", Role::scale, "1000")
            .quota("c", Role::scale, "1000")
            .value() == "17592186044415 100000");
}

TEST_CASE("the order of scales does not matter, nor does a product that is out of bounds on the way") {
  Composed composed, reversed;
  composed.base = reversed.base = "5000 100000";
  CHECK(composed.quota("a", Role::scale, "0.1").quota("b", Role::scale, "10").value() == "5000 100000");
  CHECK(reversed.quota("b", Role::scale, "10").quota("a", Role::scale, "0.1").value() == "5000 100000");
  CHECK(Composed().quota("a", Role::scale, "0.333333").quota("b", Role::scale, "3").value() ==
        Composed().quota("b", Role::scale, "3").quota("a", Role::scale, "0.333333").value());
}

TEST_CASE("a scaled quota is at most what the kernel takes") {
  Composed composed;
  composed.base = "1000000000000 100000";
  CHECK(composed.quota("a", Role::scale, "1000").value() == "17592186044415 100000");  // max_bw_quota_us
}

TEST_CASE("the strictest cap binds, and the largest floor, and a cap beats a floor") {
  CHECK(Composed().quota("a", Role::cap, "50000 100000").quota("b", Role::cap, "20000 100000").value() ==
        "20000 100000");
  CHECK(Composed().quota("a", Role::cap, "200000 100000").value() == "100000 100000");
  CHECK(Composed().quota("a", Role::floor, "120000 100000").quota("b", Role::floor, "140000 100000").value() ==
        "140000 100000");
  CHECK(Composed().quota("a", Role::floor, "120000 100000").quota("b", Role::cap, "30000 100000").value() ==
        "30000 100000");
  CHECK(Composed().quota("a", Role::cap, "20000 50000").value() == "20000 50000");  // compared by quota / period
}

TEST_CASE("a set replaces the base and the scales of its priority and below, and bounds bind all the same") {
  Composed composed;
  composed.quota("old", Role::set, "70000 100000", 10)
      .quota("burst", Role::scale, "2", 10)
      .quota("hook", Role::base, "10000 100000", 10);
  CHECK(composed.value() == "70000 100000");
  CHECK_FALSE(composed.was_base_asked);
  CHECK(Composed(composed).quota("strong", Role::scale, "3", 11).value() == "210000 100000");
  CHECK(Composed(composed).quota("strong", Role::base, "10000 100000", 11).value() == "10000 100000");
  CHECK(Composed(composed).quota("cap", Role::cap, "60000 100000", -5).value() == "60000 100000");
  CHECK(Composed(composed).quota("floor", Role::floor, "80000 100000", -5).value() == "80000 100000");
}

TEST_CASE("a base that outranks a set has the scales above the set, and no others") {
  Composed composed;
  composed.quota("hook", Role::base, "10000 100000", 20).quota("old", Role::set, "70000 100000", 10);
  composed.quota("weak", Role::scale, "2", 10).quota("strong", Role::scale, "3", 11);
  CHECK(composed.value() == "30000 100000");
  CHECK(holding(composed.result()) == "+hook -hook -old +strong ");
}

TEST_CASE(
    "if there are several sets, or bases, the highest priority wins, then the strictest, then the first by name") {
  CHECK(Composed().quota("a", Role::set, "10000 100000", 1).quota("b", Role::set, "90000 100000", 2).value() ==
        "90000 100000");
  CHECK(Composed().quota("a", Role::set, "20000 100000").quota("b", Role::set, "10000 100000").value() ==
        "10000 100000");
  CHECK(Composed().quota("a", Role::base, "20000 100000", 1).quota("b", Role::base, "10000 100000").value() ==
        "20000 100000");
  CHECK(Composed()
            .add("a", Role::set, "cpuset.cpus", "0-3")
            .add("b", Role::set, "cpuset.cpus", "4-5")
            .value("cpuset.cpus") == "4-5");
  CHECK(Composed()
            .add("a", Role::set, "memory.min", "4096")
            .add("b", Role::set, "memory.min", "8192")
            .value("memory.min") == "8192");
  CHECK(Composed()
            .add("a", Role::set, "cpu.shares", "1024")
            .add("b", Role::set, "cpu.weight", "1")
            .result("cpu.weight")
            .winner == "b");
  CHECK(Composed().quota("b", Role::set, "10000 100000").quota("a", Role::set, "10000 100000").result().winner == "a");
}

TEST_CASE("the result of each intent shows whether it holds, and else which plugin's does") {
  CHECK(holding(Composed().quota("a", Role::set, "20000 100000").quota("b", Role::set, "10000 100000").result()) ==
        "-b +b ");
  CHECK(holding(Composed().quota("b", Role::set, "10000 100000").quota("a", Role::set, "10000 100000").result()) ==
        "+a +a ");
  CHECK(holding(Composed().quota("burst", Role::scale, "1.5").quota("cap", Role::cap, "200000 100000").result()) ==
        "+burst +cap ");
  CHECK(holding(Composed().quota("burst", Role::scale, "1.5").quota("cap", Role::cap, "120000 100000").result()) ==
        "+cap +cap ");
  CHECK(holding(Composed().quota("burst", Role::scale, "1.5").quota("floor", Role::floor, "160000 100000").result()) ==
        "+floor +floor ");
  CHECK(
      holding(Composed().quota("hook", Role::base, "80000 100000").quota("cap", Role::cap, "20000 100000").result()) ==
      "-cap +cap ");
  CHECK(holding(
            Composed().quota("floor", Role::floor, "50000 100000").quota("cap", Role::cap, "20000 100000").result()) ==
        "-cap +cap ");
  CHECK(holding(Composed().quota("burst", Role::scale, "1.5").quota("old", Role::set, "70000 100000").result()) ==
        "-old +old ");
}

TEST_CASE("a cap of a CPU set is the intersection, and wins where the two have nothing in common") {
  const auto set_of = [](std::string base, std::string cap) {
    Composed composed;
    composed.add("hook", Role::base, "cpuset.cpus", std::move(base));
    return composed.add("suppress", Role::cap, "cpuset.cpus", std::move(cap)).value("cpuset.cpus");
  };
  CHECK(set_of("0-3", "2-5") == "2-3");
  CHECK(set_of("0-3", "0-7") == "0-3");
  CHECK(set_of("0-3", "6-7") == "6-7");
}

TEST_CASE("caps of io.max bind field by field, of the same device") {
  Composed composed;
  composed.base = "8:16 rbps=1000 wbps=5000";
  composed.add("a", Role::cap, "io.max", "8:16 rbps=2000 wbps=3000").add("b", Role::cap, "io.max", "8:16 riops=7");
  CHECK(composed.value("io.max") == "8:16 rbps=1000 wbps=3000 riops=7 wiops=max");
}

TEST_CASE("the cap of the parent cgroup is the limit, and the sum of the containers is a minimum below it") {
  const auto bound = [](const char* text, std::string plugin, std::string dir) {
    return Bound{
        find_knob("cpu.max"), *parse_value(*find_knob("cpu.max"), text), std::move(plugin), std::move(dir), {}};
  };
  Composed composed;
  composed.hierarchy.floor = bound("180000 100000", "burst", "");
  CHECK(composed.value() == "180000 100000");
  CHECK(composed.result().is_bound_by_hierarchy);
  CHECK(composed.result().winner == "burst");
  composed.hierarchy.cap = bound("50000 100000", "suppress", "be");
  CHECK(composed.value() == "50000 100000");
  CHECK(equation(composed.result()) ==
        "cpu.max 50000 100000 = base 100000 (limit 1), floor 180000 (its containers), cap 50000 (suppress on be)");
  composed.hierarchy = {.cap = bound("200000 100000", "suppress", "be"), .floor = {}};
  CHECK_FALSE(composed.result().is_bound_by_hierarchy);
}

TEST_CASE("an equation calls a value original that neither a spec nor an intent decides") {
  const Knob& knob = *find_knob("cpu.max");
  const Intent cap = Composed().quota("suppress", Role::cap, "100000 100000").intents.front();
  const Intent* const intents[] = {&cap};
  const auto made = compose(intents, {}, [&]() -> Result<Base> {
    return Base{&knob, *parse_value(knob, "60000 100000"), "original"};
  });
  CHECK(equation(*made) == "cpu.max 60000 100000 = original 60000, cap 100000 (suppress)");
}

TEST_CASE("an equation shows all parts") {
  CHECK(equation(Composed().quota("qos-cpu-burst", Role::scale, "1.5").result()) ==
        "cpu.max 150000 100000 = base 100000 (limit 1) × 1.5 (qos-cpu-burst), no cap");
  CHECK(equation(Composed().quota("old", Role::set, "20000 50000").quota("cap", Role::cap, "10000 100000").result()) ==
        "cpu.max 10000 100000 = set 20000 50000 (old), cap 10000 (cap)");
  CHECK(equation(Composed().add("old", Role::set, "cpu.idle", "1").result()) == "cpu.idle 1 = set 1 (old)");
}

TEST_CASE("which knobs take which roles") {
  const auto roles = [](std::string_view name) {
    std::string text;
    for (const Role role : {Role::set, Role::base, Role::scale, Role::cap, Role::floor})
      if (takes_role(*find_knob(name), role)) text += std::string(name_of(role)) + " ";
    return text;
  };
  for (const char* name : {"cpu.max", "memory.max", "memory.high", "memory.min", "pids.max", "cpu.max.burst"})
    CHECK_MESSAGE(roles(name) == "set base scale cap floor ", name);
  for (const char* name : {"cpu.shares", "cpu.weight", "io.weight", "io.max", "memory.wmark_ratio",
                           "vm.min_free_kbytes", "cpu.bvt_warp_ns"})
    CHECK_MESSAGE(roles(name) == "set base cap floor ", name);
  CHECK(roles("cpuset.cpus") == "set base cap ");
  for (const char* name : {"cpu.idle", "memory.oom.group", "io.latency", "resctrl.l3", "resctrl.group",
                           "sched_features", "cpuset.mems", "net_cls.classid"})
    CHECK_MESSAGE(roles(name) == "set base ", name);
  CHECK(roles("memory.reclaim") == "set ");
}
