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
          .plugin = wish.proposer.plugin,
          .strategy = wish.proposer.name,
          .cgroup_dir = intent.cgroup_dir,
          .knob = intent.knob,
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

Governor::Governor(const Clock& clock, const cgroup::Layout& layout) : clock_(clock), files_(layout), executor_(files_) {}

Mode Governor::mode_of(const Proposer& proposer) const {
  auto mode = modes_.find(proposer.plugin);
  return mode == modes_.end() ? node_mode_ : mode->second;
}

void Governor::take(const Proposer& proposer, Plan plan, Tell tell) {
  std::lock_guard lock(mutex_);
  Strategy& strategy = strategies_[proposer];
  std::vector<Standing> before = std::exchange(strategy.wishes, {});
  std::map<std::pair<std::string_view, std::string_view>, Standing*> known;
  for (Standing& old : before) known.emplace(std::pair(std::string_view(old.intent.cgroup_dir), old.knob->name), &old);
  strategy.tell = std::move(tell);
  const Time now = clock_.now();
  for (Intent& intent : plan) {
    const Knob* knob = find_knob(intent.knob);
    Result<Value> value = knob ? parse_value(*knob, intent.value) : Result<Value>(invalid("no such knob"));
    if (!value) continue;  // what cannot be was refused when it was proposed
    const Time until = intent.ttl < Time::max() - now ? now + intent.ttl : Time::max();
    Standing standing{{proposer, std::move(intent), knob, *std::move(value), until}, {}};
    auto same = known.extract({standing.intent.cgroup_dir, knob->name});
    if (same) standing.last = std::move(same.mapped()->last);
    strategy.wishes.push_back(std::move(standing));
  }
  settle();
}

void Governor::withdraw(const Proposer& proposer) {
  std::lock_guard lock(mutex_);
  if (strategies_.erase(proposer) > 0) settle();
}

void Governor::set_mode(std::string_view plugin, std::optional<Mode> mode) {
  std::lock_guard lock(mutex_);
  const auto known = modes_.find(plugin);
  if (known == modes_.end() ? !mode : mode == known->second) return;
  if (mode)
    modes_.insert_or_assign(std::string(plugin), *mode);
  else
    modes_.erase(known);
  bool proposes = std::any_of(strategies_.begin(), strategies_.end(), [&](const auto& s) { return s.first.plugin == plugin; });
  if (proposes) settle();
}

void Governor::set_node_mode(Mode mode) {
  std::lock_guard lock(mutex_);
  if (std::exchange(node_mode_, mode) == mode) return;
  if (!strategies_.empty()) settle();
}

void Governor::expire() {
  std::lock_guard lock(mutex_);
  const Time now = clock_.now();
  bool any = false;
  for (auto& [proposer, strategy] : strategies_) {
    std::vector<IntentResult> expired;
    std::erase_if(strategy.wishes, [&, &proposer = proposer](const Standing& standing) {
      if (standing.until > now) return false;
      Done done{Outcome::expired, standing.result.final_value, standing.result.final_value, {}};
      if (mode_of(proposer) != Mode::off) log_.add(decision_of(standing, done, now));
      expired.push_back({Outcome::expired, standing.intent.knob, standing.intent.cgroup_dir, {}, {}});
      return true;
    });
    if (expired.empty()) continue;
    any = true;
    strategy.tell(std::move(expired));
  }
  if (any || executor_.held() > 0) settle();  // what others have written meanwhile is seen, too
}

void Governor::stop() {
  std::lock_guard lock(mutex_);
  strategies_.clear();
  settle();
}

std::vector<Wish*> Governor::wishes_of(bool also_shadow) {
  std::vector<Wish*> wishes;
  for (auto& [proposer, strategy] : strategies_) {
    const Mode mode = mode_of(proposer);
    if (mode == Mode::off || (mode == Mode::shadow && !also_shadow)) continue;
    for (Standing& standing : strategy.wishes) wishes.push_back(&standing);
  }
  return wishes;
}

void Governor::settle() {
  settle_enforced();
  settle_shadow();
  for (auto& [proposer, strategy] : strategies_) {
    if (mode_of(proposer) == Mode::off)
      for (Standing& standing : strategy.wishes) conclude(standing, nullptr, {.outcome = Outcome::off});
    tell(strategy);
  }
}

void Governor::settle_enforced() {
  const std::vector<Contest> contests = arbitrate(wishes_of(false));
  std::vector<Order> orders;
  for (const Contest& contest : contests) {
    const Wish& winner = *contest.front();
    orders.push_back({winner.intent.level, winner.intent.cgroup_dir, winner.knob, winner.value});
  }
  const Executor::Report report = executor_.apply(orders);
  for (std::size_t i = 0; i < contests.size(); ++i) {
    const Wish& winner = *contests[i].front();
    for (Wish* wish : contests[i]) {
      Done done = report.done[i];
      if (!agrees(winner, *wish)) done.outcome = Outcome::lost;
      conclude(*wish, &winner, done);
    }
  }
  for (const Undone& undone : report.undone)
    if (!undone.again) record_undone(undone);
}

void Governor::settle_shadow() {
  for (const Contest& contest : arbitrate(wishes_of(true))) {
    const Wish& winner = *contest.front();
    for (Wish* wish : contest) {
      if (mode_of(wish->proposer) != Mode::shadow) continue;
      Result<KnobFiles::Reading> now = files_.read(*wish->knob, wish->intent.cgroup_dir);
      Done done{.outcome = agrees(winner, *wish) ? Outcome::shadow : Outcome::lost};
      if (now) done.before = done.after = spell(*wish->knob, now->value);
      if (!now) done = {outcome_of(now.error()), {}, {}, now.error().message()};
      conclude(*wish, &winner, done);
    }
  }
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
  log_.add(std::move(decision));
}

void Governor::record_undone(const Undone& undone) {
  log_.add({.time = clock_.now(),
            .plugin = {},
            .strategy = {},
            .cgroup_dir = undone.cgroup_dir,
            .knob = std::string(undone.knob->name),
            .level = {},
            .reason = "nobody wishes it any more",
            .inputs = {},
            .before = undone.done.before,
            .wanted = {},
            .after = undone.done.after,
            .outcome = undone.done.outcome,
            .winner = {},
            .problem = undone.done.problem});
}

void Governor::tell(Strategy& strategy) {
  std::vector<IntentResult> news;
  for (Standing& standing : strategy.wishes)
    if (std::exchange(standing.has_news, false)) news.push_back(standing.result);
  if (!news.empty()) strategy.tell(std::move(news));
}

std::size_t Governor::held() const {
  std::lock_guard lock(mutex_);
  return executor_.held();
}

std::size_t Governor::wishes() const {
  std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [proposer, strategy] : strategies_) count += strategy.wishes.size();
  return count;
}

}  // namespace koord::knob
