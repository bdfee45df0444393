// SPDX-License-Identifier: Apache-2.0
// Keeps the active intents and marks the knobs to be composed again.
#include "core/knob/governor.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace koord::knob {
namespace {

KnobKey state_key(const Intent& intent) {
  return {intent.cgroup_dir, std::string(intent.knob->resource), intent.parsed.item};
}

std::set<std::string, std::less<>> nested_resources(const KnobFiles& files) {
  std::set<std::string, std::less<>> nested;
  for (const std::string_view resource : {"cpu.max", "cpuset.cpus"})
    if (files.is_nested(*find_knob(resource))) nested.emplace(resource);
  return nested;
}

}  // namespace

Governor::Governor(const Clock& clock, const cgroup::Layout& layout, const NodeRoots& roots, Originals& originals)
    : clock_(clock),
      files_(layout, roots),
      nested_(nested_resources(files_)),
      executor_(files_, originals, clock),
      readings_(files_, clock) {
  executor_.set_owner_base(
      [this](const KnobKey& key, const Knob& knob, const Value& before) { return owner_base(key, knob, before); });
}

void Governor::set_limits(const Executor::Limits& limits) {
  std::lock_guard lock(mutex_);
  executor_.set_limits(limits);
  refresh_ = limits.refresh;
}

void Governor::take(const decision::Proposer& proposer, Plan plan, ReportResults report_results) {
  std::lock_guard lock(mutex_);
  if (has_ended_) return;
  Strategy& strategy = strategies_[proposer];
  if (!strategy.proposer) strategy.proposer = std::make_shared<const decision::Proposer>(proposer);
  for (Intent& intent : plan) intent.proposer = strategy.proposer;
  strategy.report_results = std::move(report_results);
  strategy.is_new_plan = true;
  strategy.has_ended = false;
  std::vector<std::unique_ptr<ActiveIntent>> before = std::exchange(strategy.intents, {}), after(plan.size());
  // Most plans are equal, or nearly equal, to the previous plan.
  for (std::size_t i = 0; i < std::min(before.size(), plan.size()); ++i) {
    if (!is_same_proposal(before[i]->proposed, plan[i])) continue;
    after[i] = std::move(before[i]);
    after[i]->proposed = std::move(plan[i]);
  }
  using Turned = std::tuple<std::string_view, std::string_view, std::string_view, decision::Role>;
  const auto turned = [](const ActiveIntent& one) {
    return Turned(one.proposed.cgroup_dir, one.proposed.knob->name, one.proposed.parsed.item, one.proposed.role);
  };
  std::map<Turned, ActiveIntent*> known;
  for (const auto& old : before)
    if (old) known.emplace(turned(*old), old.get());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (after[i]) continue;
    after[i] = activate(strategy, std::move(plan[i]));
    const auto same = known.find(turned(*after[i]));
    if (same != known.end()) after[i]->last = std::move(same->second->last);
    enter(*after[i]);
  }
  for (const auto& old : before)
    if (old) leave_state(*old);
  strategy.intents = std::move(after);
  sum_up(strategy);
  renew(strategy);
  reconcile();
}

bool Governor::repeat(const decision::Proposer& proposer) {
  std::lock_guard lock(mutex_);
  const auto found = strategies_.find(proposer);
  if (found == strategies_.end() || found->second.has_ended) return false;
  renew(found->second);
  reconcile();
  return true;
}

// Restarts the ttl of all intents of the strategy. Its one-shots are to be done again.
void Governor::renew(Strategy& strategy) {
  strategy.renewed = clock_.now();
  for (ActiveIntent* one_shot : strategy.one_shots)
    if (std::exchange(one_shot->is_done, false)) mark_dirty(*one_shot->entry);
}

// Precomputes the one-shots and the shortest ttl of the strategy's intents, so that they are not read one by one.
void Governor::sum_up(Strategy& strategy) {
  strategy.one_shots.clear();
  strategy.shortest_ttl = Duration::max();
  for (const auto& active : strategy.intents) {
    if (active->proposed.knob->is_one_shot) strategy.one_shots.push_back(active.get());
    strategy.shortest_ttl = std::min(strategy.shortest_ttl, active->proposed.ttl);
  }
}

std::unique_ptr<Governor::ActiveIntent> Governor::activate(Strategy& strategy, Intent intent) const {
  auto active = std::make_unique<ActiveIntent>();
  active->proposed = std::move(intent);
  active->strategy = &strategy;
  active->hands_off = is_hands_off(*active);
  return active;
}

void Governor::enter(ActiveIntent& intent) {
  intent.entry = &*states_.try_emplace(state_key(intent.proposed)).first;
  intent.entry->second.intents.push_back(&intent);
  mark_dirty(*intent.entry);
}

void Governor::leave_state(ActiveIntent& intent) {
  std::erase(intent.entry->second.intents, &intent);
  readings_.forget(*intent.proposed.knob, intent.proposed.cgroup_dir, intent.proposed.parsed.item);
  mark_dirty(*intent.entry);
}

void Governor::mark_dirty(Entry& entry) {
  if (std::exchange(entry.second.is_dirty, true)) return;
  dirty_.push_back(&entry);
  // The quota limits the burst.
  if (entry.first.resource != "cpu.max") return;
  if (const auto burst = states_.find({entry.first.cgroup_dir, "cpu.max.burst", {}}); burst != states_.end())
    mark_dirty(*burst);
}

void Governor::mark_all_dirty() {
  for (Entry& entry : states_) mark_dirty(entry);
}

void Governor::mark_due_dirty() {
  const Time now = clock_.now();
  for (auto due = due_.begin(); due != due_.end() && due->first <= now; ++due) mark_dirty(*due->second);
}

void Governor::withdraw(const decision::Proposer& proposer) {
  std::lock_guard lock(mutex_);
  const auto found = strategies_.find(proposer);
  if (found == strategies_.end()) return;
  for (const auto& active : found->second.intents) leave_state(*active);
  strategies_.erase(found);
  reconcile("'" + proposer.plugin + "' has ended");
}

void Governor::expire() {
  std::lock_guard lock(mutex_);
  const Time now = clock_.now();
  expire_overrides(now);
  for (auto& [proposer, strategy] : strategies_)
    if (later(strategy.renewed, strategy.shortest_ttl) <= now) end_intents(proposer, strategy);
  const bool any_due = !due_.empty() && due_.begin()->first <= now;
  if (any_due || !dirty_.empty() || executor_.has_reverts()) reconcile();
}

void Governor::end_intents(const decision::Proposer& proposer, Strategy& strategy) {
  const Time now = clock_.now();
  std::vector<IntentResult> expired;
  std::erase_if(strategy.intents, [&](const std::unique_ptr<ActiveIntent>& active) {
    const Intent& intent = active->proposed;
    if (later(strategy.renewed, intent.ttl) > now) return false;
    Done done{decision::Outcome::expired, active->final_value, active->final_value, {}};
    if (mode_of(proposer) != Mode::off) record(decision_of(intent, done, now));
    expired.push_back({decision::Outcome::expired, std::string(intent.knob->name), intent.cgroup_dir, {}, {}, {}});
    leave_state(*active);
    return true;
  });
  strategy.has_ended = true;
  sum_up(strategy);
  strategy.report_results(std::move(expired));
}

}  // namespace koord::knob
