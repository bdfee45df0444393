// SPDX-License-Identifier: Apache-2.0
#include "core/knob/planner.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "test/core/knob/made_step.hpp"

using namespace koord;
using namespace koord::knob;

namespace {

struct Batch {
  std::vector<Step> steps;
  Surroundings around{.nested_quotas = true, .nested_sets = true};

  static Value value(std::string_view knob, std::string_view text) { return *parse_value(*find_knob(knob), text); }
  void change(std::string dir, std::string_view knob, std::string_view now, std::string_view target) {
    const Knob* found = find_knob(knob);
    steps.push_back(test::made_step(std::move(dir), *found, value(knob, now), value(knob, target)));
  }
  void known(std::string dir, std::string_view knob, std::string_view text) {
    const Knob* found = find_knob(knob);
    around.values.emplace(std::pair(std::move(dir), std::string(found->resource)), std::pair(found, value(knob, text)));
  }
  // Returns the plan as "pod=0-1 app=1".
  std::string plan() {
    std::string text;
    for (const PlannedWrite& write : plan_writes(test::pointers_to(steps), around)) {
      const Step& step = *write.step;
      text += (text.empty() ? "" : ", ") + step.key.cgroup_dir + " " + step.key.resource + " " +
              spell(*step.knob, write.value);
    }
    return text;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Batch, "widening writes start at the parent, narrowing writes start at the children") {
  change("pod", "cpu.max", "20000 100000", "50000 100000");
  change("pod/app", "cpu.max", "20000 100000", "50000 100000");
  CHECK(plan() == "pod cpu.max 50000 100000, pod/app cpu.max 50000 100000");
  steps.clear();
  change("pod", "cpu.max", "50000 100000", "20000 100000");
  change("pod/app", "cpu.max", "50000 100000", "20000 100000");
  CHECK(plan() == "pod/app cpu.max 20000 100000, pod cpu.max 20000 100000");
}

// A process ended between the two writes that revert a quota.
TEST_CASE_FIXTURE(Batch, "the period is written even if the limit is removed already") {
  change("pod", "cpu.max", "max 50000", "max 100000");
  CHECK(plan() == "pod cpu.max max 100000");
}

TEST_CASE_FIXTURE(Batch, "a set that moves is the union on the way where a cgroup is inside, and nowhere else") {
  change("pod", "cpuset.cpus", "0-1", "2-3");
  change("pod/app", "cpuset.cpus", "1", "2");
  CHECK(plan() == "pod cpuset.cpus 0-3, pod/app cpuset.cpus 2, pod cpuset.cpus 2-3");
}

TEST_CASE_FIXTURE(Batch, "a quota is raised before the burst and lowered after it") {
  change("pod", "cpu.max.burst", "10000", "60000");
  change("pod", "cpu.max", "10000 100000", "60000 100000");
  CHECK(plan() == "pod cpu.max 60000 100000, pod cpu.max.burst 60000");
  steps.clear();
  change("pod", "cpu.max", "60000 100000", "10000 100000");
  change("pod", "cpu.max.burst", "60000", "10000");
  CHECK(plan() == "pod cpu.max.burst 10000, pod cpu.max 10000 100000");
}

TEST_CASE_FIXTURE(Batch, "a cgroup is idle after its shares are written, and has shares after it is not idle") {
  change("pod", "cpu.idle", "0", "1");
  CHECK(plan() == "pod cpu.idle 1");
  steps.clear();
  change("pod", "cpu.shares", "3", "512");
  change("pod", "cpu.idle", "1", "0");
  CHECK(plan() == "pod cpu.idle 0, pod cpu.weight 512");
  steps.clear();
  known("be", "cpu.idle", "1");
  change("be", "cpu.shares", "3", "512");
  CHECK(plan() == "");
  CHECK(steps[0].conflict == "the cgroup is idle, and has no shares");
}

TEST_CASE_FIXTURE(Batch, "on v1 no quota is above that of a cgroup around it, wherever the change is") {
  known("pod", "cpu.max", "50000 100000");
  known("pod/app", "cpu.max", "max");
  change("pod/app/inner", "cpu.max", "max", "60000 100000");
  CHECK(plan() == "");
  CHECK(steps[0].conflict == "more than allowed around it: 'pod' has cpu.max 50000 100000");
  steps.clear();
  around.values.clear();
  known("pod/app", "cpu.max", "60000 100000");
  change("pod", "cpu.max", "max", "50000 100000");
  CHECK(plan() == "");
  CHECK(steps[0].conflict == "less than is used inside of it: 'pod/app' has cpu.max 60000 100000");
}

TEST_CASE_FIXTURE(Batch, "a quota is compared as a share of its period") {
  known("pod", "cpu.max", "50000 100000");
  change("pod/app", "cpu.max", "10000 100000", "20000 40000");
  CHECK(plan() == "pod/app cpu.max 20000 40000");
  steps.clear();
  change("pod/app", "cpu.max", "10000 100000", "20001 40000");
  CHECK(plan() == "");
}

TEST_CASE_FIXTURE(Batch, "to refuse one may take the room from another, which is then refused, too") {
  known("pod/other", "cpu.max", "40000 100000");
  change("pod", "cpu.max", "50000 100000", "30000 100000");
  change("pod/app", "cpu.max", "50000 100000", "30000 100000");
  CHECK(plan() == "pod/app cpu.max 30000 100000");
  CHECK(steps[0].conflict == "less than is used inside of it: 'pod/other' has cpu.max 40000 100000");
}

TEST_CASE_FIXTURE(Batch, "v2 allows a child a larger value than its parent") {
  around.nested_quotas = false;
  known("pod", "cpu.max", "50000 100000");
  change("pod/app", "cpu.max", "max", "60000 100000");
  CHECK(plan() == "pod/app cpu.max 60000 100000");
}

TEST_CASE_FIXTURE(Batch, "on v1 a CPU set is within its parent's and holds those inside") {
  known("pod", "cpuset.cpus", "0-1");
  change("pod/app", "cpuset.cpus", "0", "2");
  CHECK(plan() == "");
  steps.clear();
  known("pod2/app", "cpuset.cpus", "0");
  change("pod2", "cpuset.cpus", "0-1", "1");
  CHECK(plan() == "");
  CHECK(steps[0].conflict == "less than is used inside of it: 'pod2/app' has cpuset.cpus 0");
}

TEST_CASE_FIXTURE(Batch, "a quota below a burst that stays is refused, and a burst above the quota is cut") {
  known("pod", "cpu.max.burst", "30000");
  change("pod", "cpu.max", "max", "20000 100000");
  CHECK(plan() == "");
  CHECK(steps[0].conflict == "less than cpu.max.burst, which is 30000");
  steps.clear();
  around.values.clear();
  known("pod", "cpu.max", "20000 100000");
  change("pod", "cpu.max.burst", "0", "30000");
  CHECK(plan() == "pod cpu.max.burst 20000");
  CHECK(steps[0].altered == "as much as the quota, since the kernel takes no more");
}

TEST_CASE_FIXTURE(Batch, "memory is taken from one before it is promised to another") {
  change("be", "memory.min", "20", "20");
  change("be/pod1", "memory.min", "10", "0");
  change("be/pod2", "memory.min", "0", "10");
  CHECK(plan() == "be/pod1 memory.min 0, be/pod2 memory.min 10");
  steps.clear();
  change("be", "memory.low", "10", "30");
  change("be/pod1", "memory.low", "10", "5");
  change("be/pod2", "memory.low", "0", "25");
  CHECK(plan() == "be/pod1 memory.low 5, be memory.low 30, be/pod2 memory.low 25");
}

TEST_CASE_FIXTURE(Batch, "minima that add up at both ends do so after each write") {
  std::mt19937 random(1);
  const auto any = [&] { return static_cast<std::int64_t>(random() % 4) * 10; };
  for (int round = 0; round < 500; ++round) {
    std::map<std::string, std::int64_t> now, target;
    for (auto* state : {&now, &target})
      for (const std::string pod : {"be/a", "be/b", "be/c"}) {
        for (const std::string app : {"/1", "/2"}) (*state)[pod] += (*state)[pod + app] = any();
        (*state)["be"] += (*state)[pod];
      }
    steps.clear();
    for (const auto& [dir, amount] : now)
      change(dir, "memory.min", std::to_string(amount), std::to_string(target[dir]));
    for (const PlannedWrite& write : plan_writes(test::pointers_to(steps), around)) {
      now[write.step->key.cgroup_dir] = write.value.amount;
      for (const auto& [dir, amount] : now) {
        std::int64_t inside = 0;
        for (const auto& [inner, its] : now)
          if (inner.starts_with(dir + "/") && inner.find('/', dir.size() + 1) == std::string::npos) inside += its;
        REQUIRE(inside <= amount);
      }
    }
    REQUIRE(now == target);
  }
}
