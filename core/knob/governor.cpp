// SPDX-License-Identifier: Apache-2.0
#include "core/knob/governor.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace koord::knob {
namespace {

Decision decision_of(const Wish& wish, const Done& done, Time time) {
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

// Nothing that an operator would want to read twice.
bool is_news(const Decision& now, const std::optional<Decision>& last) {
  return !last || std::tie(now.outcome, now.wanted, now.winner, now.problem, now.priority) !=
                      std::tie(last->outcome, last->wanted, last->winner, last->problem, last->priority);
}

}  // namespace

Governor::Governor(const Clock& clock, const cgroup::Layout& layout, const NodeRoots& roots, Originals& originals)
    : clock_(clock), files_(layout, roots), executor_(files_, originals, clock), readings_(files_, clock) {}

void Governor::set_limits(const Executor::Limits& limits) {
  std::lock_guard lock(mutex_);
  executor_.set_limits(limits);
  refresh_ = limits.refresh;
}

void Governor::take(const Proposer& proposer, Plan plan, Tell tell) {
  std::lock_guard lock(mutex_);
  if (has_ended_) return;
  Strategy& strategy = strategies_[proposer];
  std::vector<Standing> before = std::exchange(strategy.wishes, {});
  using Turned = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Turned, Standing*> known;
  for (Standing& old : before) known.emplace(Turned(old.intent.cgroup_dir, old.knob->name, old.value.item), &old);
  strategy.tell = std::move(tell);
  const Time now = clock_.now();
  for (Intent& intent : plan) {
    const Knob* knob = find_knob(intent.knob);
    Result<Value> value = knob ? parse_value(*knob, intent.value) : Result<Value>(invalid("no such knob"));
    if (!value) continue;  // what cannot be was refused when it was proposed
    const Time until = intent.ttl < Time::max() - now ? now + intent.ttl : Time::max();
    Standing standing{{proposer, std::move(intent), knob, *std::move(value), until}, {}};
    auto same = known.extract(Turned(standing.intent.cgroup_dir, knob->name, standing.value.item));
    if (same) standing.last = std::move(same.mapped()->last);
    standing.hands_off = is_hands_off(standing);
    strategy.wishes.push_back(std::move(standing));
  }
  settle();
}

void Governor::withdraw(const Proposer& proposer) {
  std::lock_guard lock(mutex_);
  if (strategies_.erase(proposer) > 0) settle("'" + proposer.plugin + "' has ended");
}

void Governor::expire() {
  std::lock_guard lock(mutex_);
  const Time now = clock_.now();
  expire_overrides(now);
  bool any = false;
  for (auto& [proposer, strategy] : strategies_) {
    std::vector<IntentResult> expired;
    std::erase_if(strategy.wishes, [&, &proposer = proposer](const Standing& standing) {
      if (standing.until > now) return false;
      Done done{Outcome::expired, standing.result.final_value, standing.result.final_value, {}};
      if (mode_of(proposer) != Mode::off) record(decision_of(standing, done, now));
      expired.push_back({Outcome::expired, standing.intent.knob, standing.intent.cgroup_dir, {}, {}});
      return true;
    });
    if (expired.empty()) continue;
    any = true;
    strategy.tell(std::move(expired));
  }
  if (any || executor_.held() > 0) settle();  // what others have written meanwhile is seen, too
}

std::vector<Wish*> Governor::wishes_of(bool also_shadow) {
  std::vector<Wish*> wishes;
  for (auto& [proposer, strategy] : strategies_) {
    const Mode mode = mode_of(proposer);
    if (mode == Mode::off || (mode == Mode::shadow && !also_shadow)) continue;
    for (Standing& standing : strategy.wishes)
      if (!standing.hands_off) wishes.push_back(&standing);
  }
  return wishes;
}

void Governor::settle(const std::string& why) {
  if (has_ended_) return;
  settle_enforced(why);
  settle_shadow();
  for (auto& [proposer, strategy] : strategies_) {
    const bool is_off = mode_of(proposer) == Mode::off;
    for (Standing& standing : strategy.wishes) {
      if (is_off && !modes_.is_hands_off())
        conclude(standing, nullptr, {.outcome = Outcome::off});
      else if (is_off || standing.hands_off)
        conclude(standing, nullptr, {.outcome = Outcome::hands_off});
    }
    tell(strategy);
  }
}

std::vector<Undone> Governor::settle_enforced(const std::string& why) {
  std::vector<Contest> contests = arbitrate(wishes_of(false));
  std::erase_if(contests, [](const Contest& contest) { return static_cast<const Standing&>(*contest.front()).acted; });
  std::vector<Order> orders;
  for (const Contest& contest : contests) {
    const Wish& winner = *contest.front();
    orders.push_back({winner.intent.level, winner.intent.cgroup_dir, winner.knob, winner.value, winner.proposer.plugin, winner.intent.ttl});
  }
  Executor::Report report = executor_.apply(orders);
  for (std::size_t i = 0; i < contests.size(); ++i) {
    const Wish& winner = *contests[i].front();
    for (Wish* wish : contests[i]) {
      Done done = report.done[i];
      if (!agrees(winner, *wish)) done.outcome = Outcome::lost;
      static_cast<Standing&>(*wish).acted = winner.knob->is_act;
      conclude(*wish, &winner, done);
    }
  }
  if (!report.undone.empty()) readings_.forget();
  std::vector<Release> releases;
  for (const Undone& undone : report.undone)
    if (!undone.again) record_undone(undone, why, releases);
  if (!why.empty() && on_release_ && !releases.empty()) on_release_(std::move(releases));
  return std::move(report.undone);
}

void Governor::settle_shadow() {
  for (const Contest& contest : arbitrate(wishes_of(true))) {
    const Wish& winner = *contest.front();
    for (Wish* wish : contest) {
      if (mode_of(wish->proposer) != Mode::shadow) continue;
      if (wish->knob->is_act) {
        conclude(*wish, &winner, {.outcome = agrees(winner, *wish) ? Outcome::shadow : Outcome::lost});
        continue;
      }
      // What another strategy writes is read each time.
      const Duration most_age = mode_of(winner.proposer) == Mode::shadow ? refresh_ : Duration(0);
      const RecentReadings::Recent& now = readings_.of(*wish->knob, wish->intent.cgroup_dir, wish->value.item, most_age);
      Done done{now.outcome, now.value, now.value, now.problem};
      if (done.outcome == Outcome::shadow && !agrees(winner, *wish)) done.outcome = Outcome::lost;
      conclude(*wish, &winner, done);
    }
  }
  readings_.end_round();
}

void Governor::conclude(Wish& wish, const Wish* winner, const Done& done) {
  auto& standing = static_cast<Standing&>(wish);
  Decision decision = decision_of(wish, done, clock_.now());
  if (winner) decision.winner = winner->proposer.plugin;
  IntentResult result{done.outcome, wish.intent.knob, wish.intent.cgroup_dir, done.after, decision.winner};
  standing.has_news |= result.outcome != standing.result.outcome || result.winner != standing.result.winner ||
                       result.final_value != standing.result.final_value;
  standing.result = std::move(result);
  if (done.outcome == Outcome::off || !is_news(decision, standing.last)) return;
  standing.last = decision;
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
  std::vector<IntentResult> news;
  for (Standing& standing : strategy.wishes)
    if (std::exchange(standing.has_news, false)) news.push_back(standing.result);
  if (!news.empty()) strategy.tell(std::move(news));
}

}  // namespace koord::knob
