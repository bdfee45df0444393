// SPDX-License-Identifier: Apache-2.0
#include "core/knob/planner.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

namespace koord::knob {
namespace {

std::size_t depth_of(const std::string& cgroup_dir) {
  return cgroup_dir.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(cgroup_dir.begin(), cgroup_dir.end(), '/'));
}

bool is_quota(const Knob& knob) { return knob.form == Form::bandwidth; }
bool is_burst(const Knob& knob) { return knob.name == "cpu.max.burst"; }
bool is_shares(const Knob& knob) { return knob.resource == "cpu.weight"; }
bool is_set(const Knob& knob) { return knob.form == Form::set; }
// Returns whether the knob protects memory. Memory protected for one cgroup is taken from the cgroups beside it.
bool is_protection(const Knob& knob) { return knob.resource == "memory.min" || knob.resource == "memory.low"; }

// Returns the place of a knob in the order of writes that widen a cgroup. Writes that narrow it have the reverse order.
int rank_of(const Step& step) {
  if (step.knob->resource == "cpu.idle") return step.target.amount == 0 ? 0 : 3;  // an idle cgroup has no shares
  if (is_quota(*step.knob)) return 1;
  return 2;
}

// The values of all cgroups after the batch.
class Future {
 public:
  Future(std::span<Step* const> steps, const Surroundings& around) : around_(around) {
    for (const Step* step : steps) steps_.emplace(std::pair(step->key.cgroup_dir, step->key.resource), step);
  }

  // Returns nullptr if the value is unknown.
  const Value* value(const std::string& cgroup_dir, const std::string& resource) const {
    if (const Step* step = this->step(cgroup_dir, resource))
      return step->conflict.empty() ? &step->target : &step->now.value;
    const auto known = around_.values.find({cgroup_dir, resource});
    return known == around_.values.end() ? nullptr : &known->second.second;
  }

  // Returns nullptr if no step writes this knob.
  const Step* step(const std::string& cgroup_dir, const std::string& resource) const {
    const auto found = steps_.find({cgroup_dir, resource});
    return found == steps_.end() ? nullptr : found->second;
  }

  bool is_changed(const std::string& cgroup_dir, const std::string& resource) const {
    const Step* found = step(cgroup_dir, resource);
    return found && found->conflict.empty();
  }

  // Returns the cgroups inside, at any depth, that have a known value.
  std::vector<std::string> inside(const std::string& cgroup_dir, const std::string& resource) const {
    std::vector<std::string> dirs;
    collect(steps_, cgroup_dir, resource, dirs);
    collect(around_.values, cgroup_dir, resource, dirs);
    return dirs;
  }

 private:
  template <class Map>
  static void collect(const Map& map, const std::string& cgroup_dir, const std::string& resource,
                      std::vector<std::string>& dirs) {
    const std::string prefix = cgroup_dir.empty() ? "" : cgroup_dir + "/";
    for (auto at = map.lower_bound({prefix, ""}); at != map.end() && at->first.first.starts_with(prefix); ++at)
      if (at->first.second == resource && at->first.first != cgroup_dir) dirs.push_back(at->first.first);
  }

  const Surroundings& around_;
  std::map<std::pair<std::string, std::string>, const Step*> steps_;
};

bool contains(const Knob& knob, const Value& outer, const Value& inner) {
  if (is_quota(knob))
    return outer.amount == kUnlimited || inner.amount == kUnlimited || share_of(inner) <= share_of(outer);
  return outer.set.includes(inner.set);
}

std::string around_of(std::string_view dir, const Knob& knob, const Value& value) {
  return "'" + std::string(dir) + "' has " + std::string(knob.name) + " " + spell(knob, value);
}

// Returns why the ancestor cgroups, or unchanged cgroups inside, make the target impossible.
std::string nesting_problem(const Step& step, const Future& future) {
  const Knob& knob = *step.knob;
  std::string outer = step.key.cgroup_dir;
  while (!outer.empty()) {
    const std::size_t slash = outer.rfind('/');
    outer.resize(slash == std::string::npos ? 0 : slash);
    const Value* value = future.value(outer, step.key.resource);
    if (value && !contains(knob, *value, step.target))
      return "more than allowed around it: " + around_of(outer, knob, *value);
  }
  for (const std::string& inner : future.inside(step.key.cgroup_dir, step.key.resource)) {
    if (future.is_changed(inner, step.key.resource)) continue;
    const Value* value = future.value(inner, step.key.resource);
    if (!contains(knob, step.target, *value))
      return "less than is used inside of it: " + around_of(inner, knob, *value);
  }
  return {};
}

// Returns whether the step writes an original, or keeps the value from the start of the batch.
bool is_revert(const Step& step) { return step.original != nullptr || same(*step.knob, step.target, step.before); }

std::string quota_problem(const Step& step, const Future& future, const Surroundings& around) {
  if (step.target.amount == kUnlimited) return {};
  if (!is_revert(step) && around.pinned.contains(step.key.cgroup_dir)) {
    const Value* cpus = future.value(step.key.cgroup_dir, "cpuset.cpus");
    const auto all =
        cpus ? static_cast<std::int64_t>(cpus->set.size()) << 20 : std::numeric_limits<std::int64_t>::max();
    if (share_of(step.target) < all) return "its CPUs are its own, and it would be throttled on them";
  }
  const Value* burst = future.value(step.key.cgroup_dir, "cpu.max.burst");
  if (burst && !future.is_changed(step.key.cgroup_dir, "cpu.max.burst") && burst->amount > step.target.amount)
    return "less than cpu.max.burst, which is " + std::to_string(burst->amount);
  return {};
}

bool is_all_offline(const Step& step, const Surroundings& around) {
  return step.key.resource == "cpuset.cpus" && !step.target.set.empty() && !around.online.empty() &&
         (step.target.set & around.online).empty();
}

std::string problem_of(const Step& step, const Future& future, const Surroundings& around) {
  if (is_all_offline(step, around)) return "none of the CPUs " + step.target.set.list() + " is online";
  if (is_quota(*step.knob)) {
    std::string problem = quota_problem(step, future, around);
    if (problem.empty() && around.nested_quotas) problem = nesting_problem(step, future);
    return problem;
  }
  if (is_set(*step.knob) && around.nested_sets) return nesting_problem(step, future);
  if (is_shares(*step.knob)) {
    const Value* idle = future.value(step.key.cgroup_dir, "cpu.idle");
    if (idle && idle->amount == 1) return "the cgroup is idle, and has no shares";
  }
  return {};
}

// Alters targets that are possible only in part.
void alter_targets(std::span<Step* const> steps, const Surroundings& around, const Future& future) {
  for (Step* const each : steps) {
    Step& step = *each;
    const bool is_of_cpus = step.knob->resource == "cpuset.cpus" && !step.target.set.empty();
    if (is_of_cpus && !around.online.empty() && !around.online.includes(step.target.set)) {
      if (is_all_offline(step, around)) continue;
      const CpuSet online = step.target.set & around.online;
      step.altered = "without the CPUs " + (step.target.set - online).list() + ", which are offline";
      step.target.set = online;
    }
    if (!is_burst(*step.knob)) continue;
    const Value* quota = future.value(step.key.cgroup_dir, "cpu.max");
    if (!quota || quota->amount == kUnlimited || step.target.amount <= quota->amount) continue;
    step.altered = "as much as the quota, since the kernel takes no more";
    step.target.amount = quota->amount;
  }
}

// Refuses steps until no conflict is left. Each refusal may leave a different step without room.
void refuse(std::span<Step* const> steps, const Surroundings& around, const Future& future) {
  for (bool again = true; std::exchange(again, false);) {
    for (Step* const each : steps) {
      Step& step = *each;
      if (!step.conflict.empty()) continue;
      step.conflict = problem_of(step, future, around);
      again |= !step.conflict.empty();
    }
    if (again) alter_targets(steps, around, future);
  }
}

bool holds_all_inside(const Step& step, const Future& future) {
  const std::vector<std::string> inner = future.inside(step.key.cgroup_dir, step.key.resource);
  return std::all_of(inner.begin(), inner.end(), [&](const std::string& dir) {
    return contains(*step.knob, step.target, *future.value(dir, step.key.resource));
  });
}

// Accepts a refused step if it fits after all, because the step that it conflicted with was refused later.
void reinstate(std::span<Step* const> steps, const Surroundings& around, const Future& future) {
  for (Step* const each : steps) {
    Step& step = *each;
    if (step.conflict.empty()) continue;
    std::string problem = std::exchange(step.conflict, {});
    std::string still = problem_of(step, future, around);
    const Value* burst = is_quota(*step.knob) ? future.value(step.key.cgroup_dir, "cpu.max.burst") : nullptr;
    const bool is_nested = (is_quota(*step.knob) && around.nested_quotas) || (is_set(*step.knob) && around.nested_sets);
    const bool fits = still.empty() && !(burst && burst->amount > step.target.amount) &&
                      (!is_nested || holds_all_inside(step, future));
    if (!fits) step.conflict = still.empty() ? problem : still;
  }
}

// Returns whether nothing has to be written. "No limit" is the same for all periods, but a revert writes the period,
// too.
bool is_there(const Knob& knob, const Value& now, const Value& value) {
  return same(knob, now, value) && (knob.form != Form::bandwidth || now.period_us == value.period_us);
}

Value widest_of(const Step& step, const Future& future) {
  if (is_protection(*step.knob)) return step.target;
  if (is_burst(*step.knob)) return {std::max(step.now.value.amount, step.target.amount)};
  // No cgroup inside depends on the current value.
  if (is_set(*step.knob) && future.inside(step.key.cgroup_dir, step.key.resource).empty()) return step.target;
  return widest(*step.knob, step.now.value, step.target);
}

}  // namespace

std::int64_t share_of(const Value& bandwidth) {
  if (bandwidth.amount == kUnlimited || bandwidth.period_us <= 0) return std::numeric_limits<std::int64_t>::max();
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>((static_cast<Wide>(bandwidth.amount) << 20) / bandwidth.period_us);
}

std::vector<PlannedWrite> plan_writes(std::span<Step* const> steps, const Surroundings& around) {
  std::vector<Value> now, targets;
  for (Step* step : steps) {
    step->conflict.clear(), step->altered.clear();
    now.push_back(step->now.value), targets.push_back(step->target);
  }
  const Future future(steps, around);
  alter_targets(steps, around, future);
  refuse(steps, around, future);
  reinstate(steps, around, future);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i]->conflict.empty())
      order.push_back(i);
    else
      steps[i]->target = std::move(targets[i]);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Step &one = *steps[a], &other = *steps[b];
    return std::tuple(depth_of(one.key.cgroup_dir), std::string_view(one.key.cgroup_dir), rank_of(one)) <
           std::tuple(depth_of(other.key.cgroup_dir), std::string_view(other.key.cgroup_dir), rank_of(other));
  });
  std::vector<PlannedWrite> writes;
  const auto write = [&](std::size_t i, const Value& value) {
    if (!is_there(*steps[i]->knob, now[i], value)) writes.push_back({steps[i], value});
    now[i] = value;
  };
  for (auto i = order.rbegin(); i != order.rend(); ++i)  // reduced protections make room for others
    if (is_protection(*steps[*i]->knob) && steps[*i]->target.amount < now[*i].amount) write(*i, steps[*i]->target);
  for (const std::size_t i : order) write(i, widest_of(*steps[i], future));
  for (auto i = order.rbegin(); i != order.rend(); ++i) write(*i, steps[*i]->target);
  return writes;
}

}  // namespace koord::knob
