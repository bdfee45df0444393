// SPDX-License-Identifier: Apache-2.0
// Makes views of the governor's state.
#include <algorithm>
#include <utility>

#include "core/knob/governor.hpp"

namespace koord::knob {
namespace {

// Applied intents come first. The others are sorted by mode, then by priority, the highest first.
bool is_shown_first(const IntentView& a, const IntentView& b) {
  const bool a_holds = a.decision.outcome == decision::Outcome::applied;
  const bool b_holds = b.decision.outcome == decision::Outcome::applied;
  if (a_holds != b_holds) return a_holds;
  return a.mode != b.mode ? a.mode > b.mode : a.decision.priority > b.decision.priority;
}

using Views = std::map<KnobKey, KnobView>;

KnobView& view_of(Views& views, decision::Level level, const KnobKey& key, const Knob& knob, const Subjects& subjects) {
  auto [found, is_new] = views.try_emplace(key);
  KnobView& view = found->second;
  if (!is_new) return view;
  view.level = level;
  view.cgroup_dir = key.cgroup_dir;
  view.knob = std::string(knob.name) + (key.item.empty() ? "" : " " + key.item);
  if (const Subject* subject = subjects.of(key.cgroup_dir)) view.subject = *subject;
  return view;
}

void read_value(KnobView& view, const KnobFiles& files) {
  Result<std::string> value = read_knob(files, view.knob, view.cgroup_dir);
  if (value)
    view.value = *std::move(value);
  else
    view.problem = value.error().message();
}

}  // namespace

std::size_t Governor::held() const {
  std::lock_guard lock(mutex_);
  return executor_.held();
}

std::size_t Governor::active_intents() const {
  std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [proposer, strategy] : strategies_) count += strategy.intents.size();
  return count;
}

std::map<decision::Outcome, std::size_t> Governor::active_intents_by_result() const {
  std::lock_guard lock(mutex_);
  std::map<decision::Outcome, std::size_t> counts;
  for (const auto& [proposer, strategy] : strategies_)
    for (const auto& active : strategy.intents) ++counts[active->outcome];
  return counts;
}

IntentView Governor::view_of(const ActiveIntent& active) const {
  const Intent& intent = active.proposed;
  Done done{active.outcome, {}, active.final_value, {}};
  if (active.last) done.problem = active.last->problem;
  decision::Decision decision = decision_of(intent, done, active.last ? active.last->time : Time{});
  decision.winner = active.winner;
  if (active.last) decision.composition = active.last->equation;
  return {std::move(decision), mode_of(*intent.proposer), later(active.strategy->renewed, intent.ttl)};
}

std::vector<KnobView> Governor::knobs() const {
  Views views;
  {
    std::lock_guard lock(mutex_);
    for (const Executor::Holding& holding : executor_.holdings()) {
      KnobView& view = knob::view_of(views, holding.level, holding.key, *holding.knob, *subjects_);
      view.is_held = true;
      view.original = spell(*holding.knob, holding.original);
      view.holder = holding.plugin;
      view.revert_problem = holding.problem;
    }
    for (const auto& [proposer, strategy] : strategies_)
      for (const auto& active : strategy.intents)
        knob::view_of(views, active->proposed.level, active->entry->first, *active->proposed.knob, *subjects_)
            .intents.push_back(view_of(*active));
    for (const auto& [key, state] : states_) {
      if (!state.composed || state.composed->knob->is_one_shot) continue;
      KnobView& view = knob::view_of(views, level_of(key), key, *state.composed->knob, *subjects_);
      view.composition = equation(*state.composed);
      view.parts = state.composed->parts;
    }
  }
  std::vector<KnobView> knobs;
  knobs.reserve(views.size());
  for (auto& [key, view] : views) {
    std::stable_sort(view.intents.begin(), view.intents.end(), is_shown_first);
    read_value(view, files_);
    knobs.push_back(std::move(view));
  }
  return knobs;
}

}  // namespace koord::knob
