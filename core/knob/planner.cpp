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
// Memory protected for one cgroup is taken from those around.
bool is_protection(const Knob& knob) { return knob.resource == "memory.min" || knob.resource == "memory.low"; }

// Which of a cgroup's knobs goes first while things become wider; the other way round while they become narrower.
int rank_of(const Change& change) {
  if (change.knob->resource == "cpu.idle") return change.target.amount == 0 ? 0 : 3;  // an idle cgroup has no shares
  if (is_quota(*change.knob)) return 1;
  return 2;
}

// Changes and surroundings as they will be, by cgroup.
class Future {
 public:
  Future(std::vector<Change>& changes, const Surroundings& around) : changes_(changes), around_(around) {
    for (std::size_t i = 0; i < changes.size(); ++i)
      index_.emplace(std::pair(changes[i].key.cgroup_dir, changes[i].key.resource), i);
  }

  // nullptr: not known.
  const Value* value(const std::string& cgroup_dir, const std::string& resource) const {
    if (const Change* change = this->change(cgroup_dir, resource))
      return change->refused.empty() ? &change->target : &change->now;
    const auto known = around_.values.find({cgroup_dir, resource});
    return known == around_.values.end() ? nullptr : &known->second.second;
  }

  // One that will be made; nullptr: none.
  Change* change(const std::string& cgroup_dir, const std::string& resource) const {
    const auto found = index_.find({cgroup_dir, resource});
    return found == index_.end() ? nullptr : &changes_[found->second];
  }

  bool is_changed(const std::string& cgroup_dir, const std::string& resource) const {
    const Change* found = change(cgroup_dir, resource);
    return found && found->refused.empty();
  }

  // Those inside of a cgroup, at whichever depth, of which a value is known.
  std::vector<std::string> inside(const std::string& cgroup_dir, const std::string& resource) const {
    std::vector<std::string> dirs;
    collect(index_, cgroup_dir, resource, dirs);
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

  std::vector<Change>& changes_;
  const Surroundings& around_;
  std::map<std::pair<std::string, std::string>, std::size_t> index_;
};

bool contains(const Knob& knob, const Value& outer, const Value& inner) {
  if (is_quota(knob))
    return outer.amount == kUnlimited || inner.amount == kUnlimited || share_of(inner) <= share_of(outer);
  return outer.set.includes(inner.set);
}

std::string around_of(std::string_view dir, const Knob& knob, const Value& value) {
  return "'" + std::string(dir) + "' has " + std::string(knob.name) + " " + spell(knob, value);
}

// Against the cgroups around it, and those inside of it that stay as they are.
std::string nesting_problem(const Change& change, const Future& future) {
  const Knob& knob = *change.knob;
  std::string outer = change.key.cgroup_dir;
  while (!outer.empty()) {
    const std::size_t slash = outer.rfind('/');
    outer.resize(slash == std::string::npos ? 0 : slash);
    const Value* value = future.value(outer, change.key.resource);
    if (value && !contains(knob, *value, change.target))
      return "more than allowed around it: " + around_of(outer, knob, *value);
  }
  for (const std::string& inner : future.inside(change.key.cgroup_dir, change.key.resource)) {
    if (future.is_changed(inner, change.key.resource)) continue;
    const Value* value = future.value(inner, change.key.resource);
    if (!contains(knob, change.target, *value))
      return "less than is used inside of it: " + around_of(inner, knob, *value);
  }
  return {};
}

std::string quota_problem(const Change& change, const Future& future, const Surroundings& around) {
  if (change.target.amount == kUnlimited) return {};
  if (!change.is_revert && around.pinned.contains(change.key.cgroup_dir)) {
    const Value* cpus = future.value(change.key.cgroup_dir, "cpuset.cpus");
    const auto all =
        cpus ? static_cast<std::int64_t>(cpus->set.size()) << 20 : std::numeric_limits<std::int64_t>::max();
    if (share_of(change.target) < all) return "its CPUs are its own, and it would be throttled on them";
  }
  const Value* burst = future.value(change.key.cgroup_dir, "cpu.max.burst");
  if (burst && !future.is_changed(change.key.cgroup_dir, "cpu.max.burst") && burst->amount > change.target.amount)
    return "less than cpu.max.burst, which is " + std::to_string(burst->amount);
  return {};
}

bool is_all_offline(const Change& change, const Surroundings& around) {
  return change.key.resource == "cpuset.cpus" && !change.target.set.empty() && !around.online.empty() &&
         (change.target.set & around.online).empty();
}

std::string problem_of(const Change& change, const Future& future, const Surroundings& around) {
  if (is_all_offline(change, around)) return "none of the CPUs " + change.target.set.list() + " is online";
  if (is_quota(*change.knob)) {
    std::string problem = quota_problem(change, future, around);
    if (problem.empty() && around.nested_quotas) problem = nesting_problem(change, future);
    return problem;
  }
  if (is_set(*change.knob) && around.nested_sets) return nesting_problem(change, future);
  if (is_shares(*change.knob)) {
    const Value* idle = future.value(change.key.cgroup_dir, "cpu.idle");
    if (idle && idle->amount == 1) return "the cgroup is idle, and has no shares";
  }
  return {};
}

// Changes targets that are only partly possible.
void alter_targets(std::vector<Change>& changes, const Surroundings& around, const Future& future) {
  for (Change& change : changes) {
    const bool is_of_cpus = change.knob->resource == "cpuset.cpus" && !change.target.set.empty();
    if (is_of_cpus && !around.online.empty() && !around.online.includes(change.target.set)) {
      if (is_all_offline(change, around)) continue;
      const CpuSet online = change.target.set & around.online;
      change.remark = "without the CPUs " + (change.target.set - online).list() + ", which are offline";
      change.target.set = online;
    }
    if (!is_burst(*change.knob)) continue;
    const Value* quota = future.value(change.key.cgroup_dir, "cpu.max");
    if (!quota || quota->amount == kUnlimited || change.target.amount <= quota->amount) continue;
    change.remark = "as much as the quota, since the kernel takes no more";
    change.target.amount = quota->amount;
  }
}

// To refuse one may leave another without room.
void refuse(std::vector<Change>& changes, const Surroundings& around, const Future& future) {
  for (bool again = true; std::exchange(again, false);) {
    for (Change& change : changes) {
      if (!change.refused.empty()) continue;
      change.refused = problem_of(change, future, around);
      again |= !change.refused.empty();
    }
    if (again) alter_targets(changes, around, future);
  }
}

bool holds_all_inside(const Change& change, const Future& future) {
  const std::vector<std::string> inner = future.inside(change.key.cgroup_dir, change.key.resource);
  return std::all_of(inner.begin(), inner.end(), [&](const std::string& dir) {
    return contains(*change.knob, change.target, *future.value(dir, change.key.resource));
  });
}

// A change that was refused for the sake of one that was refused later may fit after all.
void reinstate(std::vector<Change>& changes, const Surroundings& around, const Future& future) {
  for (Change& change : changes) {
    if (change.refused.empty()) continue;
    std::string problem = std::exchange(change.refused, {});
    std::string still = problem_of(change, future, around);
    const Value* burst = is_quota(*change.knob) ? future.value(change.key.cgroup_dir, "cpu.max.burst") : nullptr;
    const bool is_nested =
        (is_quota(*change.knob) && around.nested_quotas) || (is_set(*change.knob) && around.nested_sets);
    const bool fits = still.empty() && !(burst && burst->amount > change.target.amount) &&
                      (!is_nested || holds_all_inside(change, future));
    if (!fits) change.refused = still.empty() ? problem : still;
  }
}

// "No limit" is the same whatever the period; a revert writes the original period all the same.
bool is_there(const Knob& knob, const Value& now, const Value& value) {
  return same(knob, now, value) && (knob.form != Form::bandwidth || now.period_us == value.period_us);
}

Value widest_of(const Change& change, const Future& future) {
  if (is_protection(*change.knob)) return change.target;
  if (is_burst(*change.knob)) return {std::max(change.now.amount, change.target.amount)};
  // No cgroup inside needs its current value.
  if (is_set(*change.knob) && future.inside(change.key.cgroup_dir, change.key.resource).empty()) return change.target;
  return widest(*change.knob, change.now, change.target);
}

}  // namespace

std::int64_t share_of(const Value& bandwidth) {
  if (bandwidth.amount == kUnlimited || bandwidth.period_us <= 0) return std::numeric_limits<std::int64_t>::max();
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>((static_cast<Wide>(bandwidth.amount) << 20) / bandwidth.period_us);
}

std::vector<PlannedWrite> plan_writes(std::vector<Change>& changes, const Surroundings& around) {
  const Future future(changes, around);
  alter_targets(changes, around, future);
  refuse(changes, around, future);
  reinstate(changes, around, future);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (changes[i].refused.empty()) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Change &one = changes[a], &other = changes[b];
    return std::tuple(depth_of(one.key.cgroup_dir), std::string_view(one.key.cgroup_dir), rank_of(one)) <
           std::tuple(depth_of(other.key.cgroup_dir), std::string_view(other.key.cgroup_dir), rank_of(other));
  });
  std::vector<PlannedWrite> writes;
  std::vector<Value> now;
  for (const Change& change : changes) now.push_back(change.now);
  const auto write = [&](std::size_t i, const Value& value) {
    if (!is_there(*changes[i].knob, now[i], value)) writes.push_back({i, value});
    now[i] = value;
  };
  for (auto i = order.rbegin(); i != order.rend(); ++i)  // a reduced protection makes room
    if (is_protection(*changes[*i].knob) && changes[*i].target.amount < now[*i].amount) write(*i, changes[*i].target);
  for (const std::size_t i : order) write(i, widest_of(changes[i], future));
  for (auto i = order.rbegin(); i != order.rend(); ++i) write(*i, changes[*i].target);
  return writes;
}

}  // namespace koord::knob
