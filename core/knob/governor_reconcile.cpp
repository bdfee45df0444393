// SPDX-License-Identifier: Apache-2.0
// A round: composes, writes and reports the dirty knobs.
#include <algorithm>
#include <tuple>
#include <utility>

#include "core/knob/governor.hpp"

namespace koord::knob {
namespace {

// Returns whether the value only caps or floors the original. With a hook's base it does not, because a container
// runtime may have stored that base, and writes it again. A scale would multiply its own result.
bool bounds_original(const Composition& made) {
  return std::all_of(made.parts.begin(), made.parts.end(), [](const Part& part) {
    const bool is_bound = part.role == decision::Role::cap || part.role == decision::Role::floor;
    return is_bound || (part.role == decision::Role::base && part.plugin.empty());
  });
}

Order order_of(decision::Level level, const KnobKey& key, const Composition& made) {
  return {level, key.cgroup_dir, made.knob, made.value, made.winner, made.ttl, bounds_original(made)};
}

}  // namespace

decision::Decision Governor::decision_of(const Intent& intent, const Done& done, Time time) {
  decision::Decision decision;
  decision.time = time;
  decision.plugin = intent.proposer->plugin;
  decision.strategy = intent.proposer->name;
  decision.cgroup_dir = intent.cgroup_dir;
  decision.knob = std::string(intent.knob->name);
  decision.level = intent.level;
  decision.priority = intent.priority;
  decision.reason = intent.reason;
  decision.inputs = intent.inputs;
  decision.before = done.before;
  decision.wanted = intent.value;
  decision.after = done.after;
  decision.outcome = done.outcome;
  decision.problem = done.problem;
  decision.role = intent.role;
  return decision;
}

std::vector<Undone> Governor::reconcile(const std::string& why) {
  if (has_ended_) return {};
  mark_due_dirty();
  spread_caps();
  mark_pods_dirty();
  const Dirty dirty = take_dirty();
  std::vector<Undone> undone = reconcile_enforced(dirty, why);
  reconcile_shadow(dirty);
  reconcile_idle(dirty);
  close(dirty);
  for (auto& [proposer, strategy] : strategies_) report(strategy);
  return undone;
}

// Returns the dirty entries, pods last, because the values of pods follow from their containers.
Governor::Dirty Governor::take_dirty() {
  Dirty dirty = std::exchange(dirty_, {});
  for (Entry* entry : dirty) {
    due_.erase({entry->second.due, entry});
    entry->second.due = Time::max();
  }
  std::stable_partition(dirty.begin(), dirty.end(), [this](const Entry* entry) {
    const Subject* subject = subjects_->at(entry->first.cgroup_dir);
    return subject == nullptr || !subject->container.empty();
  });
  return dirty;
}

std::vector<Undone> Governor::reconcile_enforced(const Dirty& dirty, const std::string& why) {
  Round round;
  for (Entry* entry : dirty) plan(*entry, round);
  Executor::Report report = executor_.apply(round.orders, round.dropped);
  for (std::size_t i = 0; i < round.planned.size(); ++i) finish(round.planned[i], report.done[i]);
  return record_all(std::move(report.undone), why);
}

void Governor::plan(Entry& entry, Round& round) {
  auto& [key, state] = entry;
  Intents intents = intents_of(state, Mode::enforce);
  if (!intents.empty()) return plan_intents(entry, std::move(intents), round);
  state.composed = follow_hierarchy(key);
  if (!state.composed) {
    state.recorded.reset();
    state.outcome = decision::Outcome::off;
    round.dropped.push_back(key);
    return;
  }
  round.orders.push_back(order_of(level_of(key), key, *state.composed));
  round.planned.push_back({&entry, {}});
}

void Governor::plan_intents(Entry& entry, Intents intents, Round& round) {
  auto& [key, state] = entry;
  state.recorded.reset();
  Result<Composition> composed =
      state.obstacle.empty() ? compose_intents(key, intents) : Result<Composition>(invalid(state.obstacle));
  if (!composed) {
    state.composed.reset();
    const decision::Outcome outcome = state.outcome = outcome_of(composed.error());
    state.due = outcome == decision::Outcome::unsupported ? clock_.now() + Executor::trust(key, refresh_) : Time{};
    conclude_all(intents, {outcome, {}, {}, composed.error().message()});
    round.dropped.push_back(key);
    return;
  }
  state.composed = *std::move(composed);
  const Composition& made = *state.composed;
  if (made.knob->is_one_shot && made.chosen && intents[*made.chosen]->is_done) return;
  round.orders.push_back(order_of(intents.front()->proposed.level, key, made));
  round.planned.push_back({&entry, std::move(intents)});
}

void Governor::finish(const Round::Planned& planned, const Done& done) {
  KnobState& state = planned.entry->second;
  state.due = done.good_until;
  state.outcome = done.outcome;
  if (planned.intents.empty()) return record_followed(*planned.entry, done);
  const Composition& made = *state.composed;
  const std::string text = equation(made);
  for (std::size_t i = 0; i < planned.intents.size(); ++i) {
    ActiveIntent& intent = *planned.intents[i];
    Done of_intent = done;
    if (!made.verdicts[i].holds) of_intent.outcome = decision::Outcome::lost;
    intent.is_done = made.knob->is_one_shot;
    conclude(intent, made.verdicts[i], text, of_intent);
  }
}

void Governor::conclude_all(const Intents& intents, const Done& done) {
  for (ActiveIntent* intent : intents) conclude(*intent, {}, {}, done);
}

std::vector<Undone> Governor::record_all(std::vector<Undone> undone, const std::string& why) {
  if (!undone.empty()) readings_.forget_all();
  std::vector<Release> releases;
  for (const Undone& one : undone) {
    if (one.again) continue;
    record_undone(one, why, releases);
    if (one.done.outcome == decision::Outcome::failed && on_failed_revert_) on_failed_revert_(one);
  }
  if (!why.empty() && on_release_ && !releases.empty()) on_release_(std::move(releases));
  return undone;
}

void Governor::reconcile_shadow(const Dirty& dirty) {
  for (Entry* entry : dirty) {
    const Intents intents = intents_of(entry->second, Mode::shadow);
    const bool any = std::any_of(intents.begin(), intents.end(), [this](const ActiveIntent* one) {
      return mode_of(*one->proposed.proposer) == Mode::shadow;
    });
    if (any) reconcile_shadow(*entry, intents);
    if (nested_.contains(entry->first.resource)) reconcile_shadow_cap(*entry, any ? intents : Intents());
  }
}

void Governor::reconcile_shadow(Entry& entry, const Intents& intents) {
  auto& [key, state] = entry;
  const Result<Composition> made = compose_intents(key, intents);
  const std::string text = made ? equation(*made) : std::string();
  const bool any_enforced = !intents_of(state, Mode::enforce).empty();
  for (std::size_t i = 0; i < intents.size(); ++i) {
    ActiveIntent& intent = *intents[i];
    const Intent& proposed = intent.proposed;
    if (mode_of(*proposed.proposer) != Mode::shadow) continue;
    const Verdict verdict = made ? made->verdicts[i] : Verdict{};
    if (proposed.knob->is_one_shot) {
      conclude(intent, verdict, text, {.outcome = verdict.holds ? decision::Outcome::shadow : decision::Outcome::lost});
      continue;
    }
    // A knob that a different strategy writes is read each time.
    const Duration trust = Executor::trust(key, refresh_);
    const RecentReadings::Recent& now =
        readings_.of(*proposed.knob, key.cgroup_dir, key.item, any_enforced ? Duration(0) : trust);
    state.due = std::min(state.due, now.outcome == decision::Outcome::gone ? Time{} : now.read_at + trust);
    Done done{now.outcome, now.value, now.value, now.problem};
    if (!made && done.outcome == decision::Outcome::shadow)
      done = {outcome_of(made.error()), now.value, now.value, made.error().message()};
    if (done.outcome == decision::Outcome::shadow && !verdict.holds) done.outcome = decision::Outcome::lost;
    conclude(intent, verdict, text, done);
  }
}

// Reports intents without effect: mode off, or hands off.
void Governor::reconcile_idle(const Dirty& dirty) {
  for (Entry* entry : dirty)
    for (ActiveIntent* intent : entry->second.intents) {
      const bool is_off = mode_of(*intent->proposed.proposer) == Mode::off;
      if (is_off && !modes_.is_hands_off())
        conclude(*intent, {}, {}, {.outcome = decision::Outcome::off});
      else if (is_off || intent->hands_off)
        conclude(*intent, {}, {}, {.outcome = decision::Outcome::hands_off});
    }
}

void Governor::close(const Dirty& dirty) {
  for (Entry* entry : dirty) {
    KnobState& state = entry->second;
    state.is_dirty = false;
    if (state.intents.empty() && !state.composed)
      states_.erase(KnobKey(entry->first));
    else if (state.due != Time::max())
      due_.emplace(state.due, entry);
  }
}

void Governor::conclude(ActiveIntent& intent, const Verdict& verdict, const std::string& equation, const Done& done) {
  const Intent& proposed = intent.proposed;
  Recorded now{done.outcome, proposed.value, verdict.winner, done.problem, equation, proposed.priority, clock_.now()};
  const bool is_new = proposed.knob->is_one_shot || std::tie(intent.outcome, intent.winner, intent.final_value) !=
                                                        std::tie(now.outcome, now.winner, done.after);
  if (is_new) intent.strategy->changed.push_back(&intent);
  intent.outcome = done.outcome;
  intent.winner = now.winner;
  intent.final_value = done.after;
  // An unchanged result is not recorded again.
  const auto key_of = [](const Recorded& one) {
    return std::tie(one.outcome, one.wanted, one.winner, one.problem, one.equation, one.priority);
  };
  if (done.outcome == decision::Outcome::off || (intent.last && key_of(*intent.last) == key_of(now))) return;
  decision::Decision decision = decision_of(proposed, done, now.time);
  decision.winner = now.winner;
  decision.composition = equation;
  intent.last = std::move(now);
  record(std::move(decision));
}

// Records a value without an intent. It follows from the cap of an ancestor cgroup, or from the containers of a pod.
void Governor::record_followed(Entry& entry, const Done& done) {
  auto& [key, state] = entry;
  const Composition& made = *state.composed;
  Recorded now{done.outcome, {}, made.winner, done.problem, equation(made), 0, clock_.now()};
  if (state.recorded && std::tie(state.recorded->outcome, state.recorded->problem, state.recorded->equation) ==
                            std::tie(now.outcome, now.problem, now.equation))
    return;
  if (!made.is_bound_by_hierarchy && done.outcome == decision::Outcome::applied && done.before == done.after) return;
  const auto cap = std::find_if(made.parts.begin(), made.parts.end(),
                                [](const Part& part) { return part.role == decision::Role::cap && part.binds; });
  const std::string quota = spell(*made.knob, made.value);
  decision::Decision decision;
  decision.time = now.time;
  decision.plugin = made.winner;
  decision.cgroup_dir = key.cgroup_dir;
  decision.knob = std::string(made.knob->name);
  decision.level = level_of(key);
  decision.role = cap != made.parts.end() ? decision::Role::cap : decision::Role::floor;
  if (cap != made.parts.end())
    decision.reason = reason_of_cap({.knob = cap->knob, .value = cap->value, .cgroup_dir = cap->source});
  else
    decision.reason = made.is_bound_by_hierarchy ? "the containers of the pod add up to " + quota
                                                 : "the containers of the pod have room in " + quota;
  decision.before = done.before;
  decision.wanted = quota;
  decision.after = done.after;
  decision.outcome = done.outcome;
  decision.winner = made.winner;
  decision.problem = done.problem;
  decision.composition = now.equation;
  state.recorded = std::move(now);
  record(std::move(decision));
}

void Governor::record_undone(const Undone& undone, const std::string& why, std::vector<Release>& releases) {
  const std::string knob(undone.knob->name);
  const Subject* subject = subjects_->of(undone.key.cgroup_dir);
  if (undone.done.outcome == decision::Outcome::reverted)
    releases.push_back({undone.plugin, undone.key.cgroup_dir, knob, why, subject ? *subject : Subject{}});
  decision::Decision decision;
  decision.time = clock_.now();
  decision.plugin = undone.plugin;
  decision.cgroup_dir = undone.key.cgroup_dir;
  decision.knob = knob;
  const std::string ended = why.empty() && why_ended_ ? why_ended_(undone.plugin) : std::string();
  decision.reason = why.empty() ? "no intent holds it any more" + (ended.empty() ? "" : ": " + ended) : why;
  decision.before = undone.done.before;
  decision.after = undone.done.after;
  decision.outcome = undone.done.outcome;
  decision.problem = undone.done.problem;
  record(std::move(decision));
}

void Governor::note(decision::Decision decision) {
  std::lock_guard lock(mutex_);
  record(std::move(decision));
}

void Governor::record(decision::Decision decision) {
  if (const Subject* subject = subjects_->of(decision.cgroup_dir)) {
    decision.pod_uid = subject->pod_uid;
    decision.pod_namespace = subject->pod_namespace;
    decision.pod_name = subject->pod_name;
    decision.container = subject->container;
  }
  decision.wall_ns = clock_.wall_ns();
  log_.add(std::move(decision));
}

void Governor::report(Strategy& strategy) {
  std::vector<IntentResult> results;
  const auto add = [&](const ActiveIntent& active) {
    const Intent& intent = active.proposed;
    const bool is_recorded = active.last && active.last->outcome == active.outcome;
    const std::string problem = is_recorded ? active.last->problem : std::string();
    results.push_back({active.outcome, std::string(intent.knob->name), intent.cgroup_dir, active.final_value,
                       active.winner, problem});
  };
  if (std::exchange(strategy.is_new_plan, false))
    for (const auto& active : strategy.intents) add(*active);
  else
    for (const ActiveIntent* active : strategy.changed) add(*active);
  strategy.changed.clear();
  if (!results.empty()) strategy.report_results(std::move(results));
}

}  // namespace koord::knob
