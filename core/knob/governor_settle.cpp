// SPDX-License-Identifier: Apache-2.0
// What becomes of the cases that are called, and who is told.
#include <algorithm>
#include <tuple>
#include <utility>

#include "core/knob/governor.hpp"

namespace koord::knob {

Decision Governor::decision_of(const Wish& wish, const Done& done, Time time) {
  const Intent& intent = wish.intent;
  return {.time = time,
          .wall_ns = 0,
          .plugin = wish.proposer.plugin,
          .strategy = wish.proposer.name,
          .cgroup_dir = intent.cgroup_dir,
          .knob = intent.knob,
          .pod_uid = {},
          .pod_namespace = {},
          .pod_name = {},
          .container = {},
          .level = intent.level,
          .priority = intent.priority,
          .reason = intent.reason,
          .inputs = intent.inputs,
          .before = done.before,
          .wanted = intent.value,
          .after = done.after,
          .outcome = done.outcome,
          .winner = {},
          .problem = done.problem};
}

std::vector<Undone> Governor::settle(const std::string& why) {
  if (has_ended_) return {};
  call_due();
  const Called called = std::exchange(called_, {});
  for (Cases::value_type* entry : called) {
    due_.erase({entry->second.due, entry});
    entry->second.due = Time::max();
  }
  std::vector<Undone> undone = settle_enforced(called, why);
  settle_shadow(called);
  settle_idle(called);
  close(called);
  for (auto& [proposer, strategy] : strategies_) tell(strategy);
  return undone;
}

// Those of strategies that may do so much.
std::vector<Wish*> Governor::wishes_of(const Case& one, Mode least) const {
  std::vector<Wish*> wishes;
  for (Standing* standing : one.wishes)
    if (!standing->hands_off && mode_of(standing->proposer) >= least) wishes.push_back(standing);
  return wishes;
}

std::vector<Undone> Governor::settle_enforced(const Called& called, const std::string& why) {
  std::vector<std::pair<Case*, Contest>> contests;
  std::vector<Order> orders;
  std::vector<KnobKey> dropped;
  for (Cases::value_type* entry : called) {
    std::vector<Contest> one = arbitrate(wishes_of(entry->second, Mode::enforce));
    if (one.empty()) {
      dropped.push_back(entry->first);
      continue;
    }
    const Wish& winner = *one.front().front();
    if (static_cast<const Standing&>(winner).acted) continue;
    orders.push_back({winner.intent.level, winner.intent.cgroup_dir, winner.knob, winner.value, winner.proposer.plugin, winner.intent.ttl});
    contests.emplace_back(&entry->second, std::move(one.front()));
  }
  Executor::Report report = executor_.apply(orders, dropped);
  for (std::size_t i = 0; i < contests.size(); ++i) {
    auto& [its_case, contest] = contests[i];
    const Wish& winner = *contest.front();
    its_case->due = report.done[i].good_until;
    for (Wish* wish : contest) {
      Done done = report.done[i];
      if (!agrees(winner, *wish)) done.outcome = Outcome::lost;
      static_cast<Standing&>(*wish).acted = winner.knob->is_act;
      conclude(*wish, &winner, done);
    }
  }
  return record_all(std::move(report.undone), why);
}

std::vector<Undone> Governor::record_all(std::vector<Undone> undone, const std::string& why) {
  if (!undone.empty()) readings_.forget_all();
  std::vector<Release> releases;
  for (const Undone& one : undone)
    if (!one.again) record_undone(one, why, releases);
  if (!why.empty() && on_release_ && !releases.empty()) on_release_(std::move(releases));
  return undone;
}

void Governor::settle_shadow(const Called& called) {
  for (Cases::value_type* entry : called) {
    const std::vector<Contest> contests = arbitrate(wishes_of(entry->second, Mode::shadow));
    if (contests.empty()) continue;
    const Wish& winner = *contests.front().front();
    for (Wish* wish : contests.front()) {
      if (mode_of(wish->proposer) != Mode::shadow) continue;
      if (wish->knob->is_act) {
        conclude(*wish, &winner, {.outcome = agrees(winner, *wish) ? Outcome::shadow : Outcome::lost});
        continue;
      }
      // What another strategy writes is read each time.
      const Duration trust = Executor::trust(entry->first, refresh_);
      const Duration most_age = mode_of(winner.proposer) == Mode::shadow ? trust : Duration(0);
      const RecentReadings::Recent& now = readings_.of(*wish->knob, wish->intent.cgroup_dir, wish->value.item, most_age);
      entry->second.due = std::min(entry->second.due, now.outcome == Outcome::gone ? Time{} : now.read_at + trust);
      Done done{now.outcome, now.value, now.value, now.problem};
      if (done.outcome == Outcome::shadow && !agrees(winner, *wish)) done.outcome = Outcome::lost;
      conclude(*wish, &winner, done);
    }
  }
}

// Of wishes that take part in nothing.
void Governor::settle_idle(const Called& called) {
  for (Cases::value_type* entry : called)
    for (Standing* standing : entry->second.wishes) {
      const bool is_off = mode_of(standing->proposer) == Mode::off;
      if (is_off && !modes_.is_hands_off())
        conclude(*standing, nullptr, {.outcome = Outcome::off});
      else if (is_off || standing->hands_off)
        conclude(*standing, nullptr, {.outcome = Outcome::hands_off});
    }
}

void Governor::close(const Called& called) {
  for (Cases::value_type* entry : called) {
    entry->second.is_called = false;
    if (entry->second.wishes.empty())
      cases_.erase(KnobKey(entry->first));
    else if (entry->second.due != Time::max())
      due_.emplace(entry->second.due, entry);
  }
}

void Governor::conclude(Wish& wish, const Wish* winner, const Done& done) {
  auto& standing = static_cast<Standing&>(wish);
  Told now{done.outcome, wish.intent.value, winner ? winner->proposer.plugin : std::string(), done.problem, wish.intent.priority, clock_.now()};
  const bool is_new = wish.knob->is_act || std::tie(standing.outcome, standing.winner, standing.final_value) != std::tie(now.outcome, now.winner, done.after);
  if (is_new) standing.strategy->news.push_back(&standing);
  standing.outcome = done.outcome;
  standing.winner = now.winner;
  standing.final_value = done.after;
  // Nothing that an operator would want to read twice.
  const auto said = [](const Told& told) { return std::tie(told.outcome, told.wanted, told.winner, told.problem, told.priority); };
  if (done.outcome == Outcome::off || (standing.last && said(*standing.last) == said(now))) return;
  Decision decision = decision_of(wish, done, now.time);
  decision.winner = now.winner;
  standing.last = std::move(now);
  record(std::move(decision));
}

void Governor::record_undone(const Undone& undone, const std::string& why, std::vector<Release>& releases) {
  const std::string knob(undone.knob->name);
  const Subject* subject = subjects_->of(undone.key.cgroup_dir);
  if (undone.done.outcome == Outcome::reverted) releases.push_back({undone.plugin, undone.key.cgroup_dir, knob, why, subject ? *subject : Subject{}});
  record({.time = clock_.now(),
          .wall_ns = 0,
          .plugin = undone.plugin,
          .strategy = {},
          .cgroup_dir = undone.key.cgroup_dir,
          .knob = knob,
          .pod_uid = {},
          .pod_namespace = {},
          .pod_name = {},
          .container = {},
          .level = {},
          .reason = why.empty() ? "nobody wishes it any more" : why,
          .inputs = {},
          .before = undone.done.before,
          .wanted = {},
          .after = undone.done.after,
          .outcome = undone.done.outcome,
          .winner = {},
          .problem = undone.done.problem});
}

void Governor::note(Decision decision) {
  std::lock_guard lock(mutex_);
  record(std::move(decision));
}

void Governor::record(Decision decision) {
  if (const Subject* subject = subjects_->of(decision.cgroup_dir)) {
    decision.pod_uid = subject->pod_uid;
    decision.pod_namespace = subject->pod_namespace;
    decision.pod_name = subject->pod_name;
    decision.container = subject->container;
  }
  decision.wall_ns = clock_.wall_ns();
  log_.add(std::move(decision));
}

void Governor::tell(Strategy& strategy) {
  std::vector<IntentResult> results;
  const auto add = [&](const Standing& standing) {
    results.push_back({standing.outcome, standing.intent.knob, standing.intent.cgroup_dir, standing.final_value, standing.winner});
  };
  if (std::exchange(strategy.is_new_plan, false))
    for (const auto& standing : strategy.wishes) add(*standing);
  else
    for (const Standing* standing : strategy.news) add(*standing);
  strategy.news.clear();
  if (!results.empty()) strategy.tell(std::move(results));
}

}  // namespace koord::knob
