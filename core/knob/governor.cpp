// SPDX-License-Identifier: Apache-2.0
// Who wishes what, and what is to be decided of it.
#include "core/knob/governor.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace koord::knob {
namespace {

KnobKey key_of(const Wish& wish) { return {wish.intent.cgroup_dir, std::string(wish.knob->resource), wish.value.item}; }

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
  strategy.tell = std::move(tell);
  strategy.is_new_plan = true;
  strategy.has_ended = false;
  std::vector<std::unique_ptr<Standing>> before = std::exchange(strategy.wishes, {}), after(plan.size());
  // As a rule a plan is the one before again, or nearly so.
  for (std::size_t i = 0; i < std::min(before.size(), plan.size()); ++i) {
    if (!repeats(*before[i], plan[i])) continue;
    after[i] = std::move(before[i]);
    after[i]->intent = std::move(plan[i]);
  }
  using Turned = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Turned, Standing*> known;
  for (const auto& old : before)
    if (old) known.emplace(Turned(old->intent.cgroup_dir, old->knob->name, old->value.item), old.get());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (after[i]) continue;
    after[i] = stand(proposer, std::move(plan[i]));
    if (!after[i]) continue;  // what cannot be was refused when it was proposed
    after[i]->strategy = &strategy;
    const auto same = known.find(Turned(after[i]->intent.cgroup_dir, after[i]->knob->name, after[i]->value.item));
    if (same != known.end()) after[i]->last = std::move(same->second->last);
    enter(*after[i]);
  }
  for (const auto& old : before)
    if (old) leave_case(*old);
  std::erase(after, nullptr);
  strategy.wishes = std::move(after);
  sum_up(strategy);
  renew(strategy);
  settle();
}

bool Governor::repeat(const Proposer& proposer) {
  std::lock_guard lock(mutex_);
  const auto found = strategies_.find(proposer);
  if (found == strategies_.end() || found->second.has_ended) return false;
  renew(found->second);
  settle();
  return true;
}

// All its wishes hold anew, from now on.
void Governor::renew(Strategy& strategy) {
  strategy.renewed = clock_.now();
  for (Standing* act : strategy.acts)
    if (std::exchange(act->acted, false)) call(*act->its_case);
}

// What is to be known of its wishes without a look at each.
void Governor::sum_up(Strategy& strategy) {
  strategy.acts.clear();
  strategy.shortest_ttl = Duration::max();
  for (const auto& standing : strategy.wishes) {
    if (standing->knob->is_act) strategy.acts.push_back(standing.get());
    strategy.shortest_ttl = std::min(strategy.shortest_ttl, standing->intent.ttl);
  }
}

std::unique_ptr<Governor::Standing> Governor::stand(const Proposer& proposer, Intent intent) {
  const Knob* knob = find_knob(intent.knob);
  Result<Value> value = knob ? parse_value(*knob, intent.value) : Result<Value>(invalid("no such knob"));
  if (!value) return nullptr;
  auto standing = std::make_unique<Standing>();
  static_cast<Wish&>(*standing) = {proposer, std::move(intent), knob, *std::move(value)};
  standing->hands_off = is_hands_off(*standing);
  return standing;
}

// Is the same wished, for whatever reason?
bool Governor::repeats(const Standing& standing, const Intent& intent) {
  const Intent& before = standing.intent;
  return std::tie(before.value, before.cgroup_dir, before.knob, before.priority, before.level, before.flags) ==
         std::tie(intent.value, intent.cgroup_dir, intent.knob, intent.priority, intent.level, intent.flags);
}

void Governor::enter(Standing& standing) {
  standing.its_case = &*cases_.try_emplace(key_of(standing)).first;
  standing.its_case->second.wishes.push_back(&standing);
  call(*standing.its_case);
}

void Governor::leave_case(Standing& standing) {
  std::erase(standing.its_case->second.wishes, &standing);
  readings_.forget(*standing.knob, standing.intent.cgroup_dir, standing.value.item);
  call(*standing.its_case);
}

void Governor::call(Cases::value_type& entry) {
  if (std::exchange(entry.second.is_called, true)) return;
  called_.push_back(&entry);
  // A burst may have to follow its quota.
  if (entry.first.resource != "cpu.max") return;
  if (const auto burst = cases_.find({entry.first.cgroup_dir, "cpu.max.burst", {}}); burst != cases_.end()) call(*burst);
}

void Governor::call_all() {
  for (Cases::value_type& entry : cases_) call(entry);
}

void Governor::call_due() {
  const Time now = clock_.now();
  for (auto due = due_.begin(); due != due_.end() && due->first <= now; ++due) call(*due->second);
}

void Governor::withdraw(const Proposer& proposer) {
  std::lock_guard lock(mutex_);
  const auto found = strategies_.find(proposer);
  if (found == strategies_.end()) return;
  for (const auto& standing : found->second.wishes) leave_case(*standing);
  strategies_.erase(found);
  settle("'" + proposer.plugin + "' has ended");
}

void Governor::expire() {
  std::lock_guard lock(mutex_);
  const Time now = clock_.now();
  expire_overrides(now);
  for (auto& [proposer, strategy] : strategies_)
    if (later(strategy.renewed, strategy.shortest_ttl) <= now) end_wishes(proposer, strategy);
  const bool any_due = !due_.empty() && due_.begin()->first <= now;
  if (any_due || !called_.empty() || executor_.has_to_give_back()) settle();
}

void Governor::end_wishes(const Proposer& proposer, Strategy& strategy) {
  const Time now = clock_.now();
  std::vector<IntentResult> expired;
  std::erase_if(strategy.wishes, [&](const std::unique_ptr<Standing>& standing) {
    if (later(strategy.renewed, standing->intent.ttl) > now) return false;
    Done done{Outcome::expired, standing->final_value, standing->final_value, {}};
    if (mode_of(proposer) != Mode::off) record(decision_of(*standing, done, now));
    expired.push_back({Outcome::expired, standing->intent.knob, standing->intent.cgroup_dir, {}, {}});
    leave_case(*standing);
    return true;
  });
  strategy.has_ended = true;
  sum_up(strategy);
  strategy.tell(std::move(expired));
}

}  // namespace koord::knob
