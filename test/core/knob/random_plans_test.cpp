// SPDX-License-Identifier: Apache-2.0
// Random trees of cgroups and random batches on this machine's kernel. The kernel accepts every write of a plan. During
// a plan each cgroup has at least the smaller and at most the larger of its old and new value. The planner refuses
// exactly the changes that the kernel refuses. Needs root.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>

#include "core/knob/knob_files.hpp"
#include "core/knob/surroundings.hpp"
#include "test/core/knob/made_step.hpp"
#include "test/support/real_cgroup.hpp"
#include "test/support/run_with_cgroups.hpp"

using namespace koord;
using namespace koord::knob;
using koord::test::RealCgroup;

namespace {

constexpr unsigned kSeed = 20240612;

struct Forest {
  KnobFiles files{*cgroup::Layout::detect(NodeRoots()), NodeRoots()};
  std::mt19937 random{kSeed};
  std::vector<std::unique_ptr<RealCgroup>> cgroups;  // parents first

  ~Forest() {
    while (!cgroups.empty()) cgroups.pop_back();  // the innermost first
  }

  unsigned below(unsigned end) { return std::uniform_int_distribution<unsigned>(0, end - 1)(random); }

  void grow(std::size_t size) {
    cgroups.push_back(std::make_unique<RealCgroup>("plans"));
    while (cgroups.size() < size) {
      const RealCgroup& parent = *cgroups[below(static_cast<unsigned>(cgroups.size()))];
      cgroups.push_back(std::make_unique<RealCgroup>(parent, "c" + std::to_string(cgroups.size())));
    }
  }

  Value any_value(const Knob& knob) {
    if (knob.form == Form::set) return Value{.set = *CpuSet::parse(std::array{"0", "1", "0-1"}[below(3)])};
    if (knob.form == Form::bandwidth)
      return below(4) == 0 ? Value{kUnlimited, 100000}
                           : Value{10000 + 10000 * static_cast<std::int64_t>(below(9)), 100000};
    return Value{5000 * static_cast<std::int64_t>(below(12))};
  }

  std::vector<Step> any_batch() {
    std::vector<Step> batch;
    for (const auto& cgroup : cgroups) {
      for (const char* name : {"cpu.max", "cpu.max.burst", "cpuset.cpus"}) {
        if (below(3) != 0) continue;
        const Knob* knob = find_knob(name);
        batch.push_back(test::made_step(cgroup->dir(), *knob, read(*knob, cgroup->dir()), any_value(*knob)));
      }
    }
    return batch;
  }

  Value read(const Knob& knob, const std::string& dir) const {
    Result<KnobFiles::Reading> now = files.read({knob, dir});
    REQUIRE(now.has_value());
    return now->value;
  }

  Result<void> write(const Step& step, const Value& value) const {
    const KnobTarget target{*step.knob, step.key.cgroup_dir};
    return files.write(target, *files.texts_of(*step.knob, value), files.read(target)->texts);
  }
};

bool lies_between(const Step& step, const Value& value) {
  const Knob& knob = *step.knob;
  if (knob.form == Form::set)
    return !value.set.empty() && (step.now.value.set | step.target.set).includes(value.set) &&
           (value.set.includes(step.now.value.set) || value.set.includes(step.target.set));
  const auto amount = [&](const Value& of) { return knob.form == Form::bandwidth ? share_of(of) : of.amount; };
  const std::int64_t before = amount(step.now.value), after = amount(step.target);
  return amount(value) >= std::min(before, after) && amount(value) <= std::max(before, after);
}

}  // namespace

TEST_CASE_FIXTURE(Forest, "the kernel takes each write of a plan, and nothing is looser or tighter on the way") {
  std::size_t written = 0, refused = 0;
  for (unsigned tree = 0; tree < 12; ++tree) {
    grow(3 + below(6));
    for (unsigned round = 0; round < 25; ++round) {
      std::vector<Step> batch = any_batch();
      const std::vector<Step*> steps = test::pointers_to(batch);
      const std::vector<PlannedWrite> writes = plan_writes(steps, read_surroundings(files, steps, {}));
      CAPTURE(tree);
      CAPTURE(round);
      for (const PlannedWrite& planned : writes) {
        const Step& step = *planned.step;
        const Result<void> done = write(step, planned.value);
        const std::string problem = done ? "" : done.error().message();
        CAPTURE(problem);
        REQUIRE(done.has_value());
        REQUIRE(lies_between(step, planned.value));
        ++written;
      }
      for (const Step& step : batch) {
        const Value now = read(*step.knob, step.key.cgroup_dir);
        CAPTURE(step.key.cgroup_dir);
        CHECK(same(*step.knob, now, step.conflict.empty() ? step.target : step.now.value));
        if (step.conflict.empty()) continue;
        CAPTURE(step.conflict);
        CHECK_FALSE(write(step, step.target).has_value());  // the planner was right to refuse it
        ++refused;
      }
    }
    while (!cgroups.empty()) cgroups.pop_back();
  }
  MESSAGE("writes taken: " << written << ", refused beforehand and by the kernel: " << refused);
  CHECK(written > 500);
}

TEST_CASE_FIXTURE(Forest, "minima of memory that add up before and after a plan do so after each of its writes") {
  const Knob& knob = *find_knob("memory.min");
  std::map<std::string, std::int64_t> now, target;
  const auto add_to_parent = [](std::map<std::string, std::int64_t>& amounts, const std::string& dir,
                                std::int64_t amount) {
    if (const auto parent = amounts.find(dir.substr(0, dir.rfind('/')));
        parent != amounts.end() && parent->first != dir)
      parent->second += amount;
  };
  for (unsigned tree = 0; tree < 4; ++tree) {
    grow(8);
    if (!files.read({knob, cgroups[0]->dir()})) return;  // this kernel lacks the knob
    for (unsigned round = 0; round < 20; ++round) {
      now.clear(), target.clear();
      for (const auto& cgroup : cgroups) target[cgroup->dir()] = 4096 * static_cast<std::int64_t>(below(4));
      for (auto cgroup = cgroups.rbegin(); cgroup != cgroups.rend(); ++cgroup)  // the innermost first
        add_to_parent(target, (*cgroup)->dir(), target[(*cgroup)->dir()]);
      std::vector<Step> batch;
      for (const auto& [dir, amount] : target) {
        batch.push_back(test::made_step(dir, knob, read(knob, dir), Value{amount}));
        now[dir] = batch.back().now.value.amount;
      }
      const std::vector<Step*> steps = test::pointers_to(batch);
      for (const PlannedWrite& planned : plan_writes(steps, read_surroundings(files, steps, {}))) {
        REQUIRE(write(*planned.step, planned.value).has_value());
        now[planned.step->key.cgroup_dir] = read(knob, planned.step->key.cgroup_dir).amount;
        std::map<std::string, std::int64_t> inside;
        for (const auto& [dir, amount] : now) inside[dir] = 0;
        for (const auto& [dir, amount] : now) add_to_parent(inside, dir, amount);
        for (const auto& [dir, amount] : now) REQUIRE(inside[dir] <= amount);
      }
      REQUIRE(now == target);
    }
    while (!cgroups.empty()) cgroups.pop_back();
  }
}

int main(int argc, char** argv) { return koord::test::run_with_cgroups(argc, argv); }
