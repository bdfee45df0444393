// SPDX-License-Identifier: Apache-2.0
// Makes the steps of a round from orders and reverts.
#include "core/knob/executor.hpp"

#include <algorithm>

namespace koord::knob {
namespace {

constexpr std::string_view kGroup = "resctrl.made", kCacheShare = "resctrl.l3", kBandwidthShare = "resctrl.mb";

KnobKey key_of(const Order& order) { return {order.cgroup_dir, std::string(order.knob->resource), order.value.item}; }

}  // namespace

decision::Outcome outcome_of(const Error& error) {
  if (error.is(std::errc::no_such_device)) return decision::Outcome::gone;
  return error.is(std::errc::not_supported) ? decision::Outcome::unsupported : decision::Outcome::failed;
}

Executor::Executor(const KnobFiles& files, Originals& originals, const Clock& clock)
    : files_(files), originals_(originals), clock_(clock) {
  adopt(originals_.all(), Duration(0), false);
}

Executor::Report Executor::apply(const std::vector<Order>& orders) {
  std::set<KnobKey> keys;
  for (const Order& order : orders) keys.insert(key_of(order));
  std::vector<KnobKey> dropped;
  for (const KnobKey& key : ordered_)
    if (key.resource != kGroup && !keys.contains(key)) dropped.push_back(key);
  return apply(orders, dropped);
}

Executor::Report Executor::apply(const std::vector<Order>& orders, const std::vector<KnobKey>& dropped) {
  files_.begin_round();
  open_directories_ = 0;
  std::map<std::string, Done> failed_groups;
  make_groups(orders, failed_groups);
  Steps steps;
  steps.reserve(orders.size());
  for (const Order& order : orders) steps.push_back(order_step(order));
  for (const KnobKey& key : dropped) drop(key);
  join_bursts(steps);
  hold_up(steps);
  Steps reverted = reverts(false);
  std::move(reverted.begin(), reverted.end(), std::back_inserter(steps));
  keep_healed();
  run(steps);

  Report report;
  for (Step& step : steps) {
    if (!step.order) continue;
    const auto no_group =
        step.knob->place == Place::schemata ? failed_groups.find(step.key.cgroup_dir) : failed_groups.end();
    if (no_group != failed_groups.end()) step.done = no_group->second;
    remember(step);
    report.done.push_back(std::move(step.done));
  }
  report_reverts(steps, report);
  Steps groups = reverts(true);
  run(groups);
  report_reverts(groups, report);
  originals_.flush();
  return report;
}

// Makes the resctrl groups of the orders first. `failed`: the groups that could not be made.
void Executor::make_groups(const std::vector<Order>& orders, std::map<std::string, Done>& failed) {
  const Knob* group = find_knob(kGroup);
  std::map<std::string_view, Order> implied;
  for (const Order& order : orders) {
    if (order.knob->place != Place::schemata || order.cgroup_dir.empty()) continue;
    implied.try_emplace(order.cgroup_dir,
                        Order{decision::Level::node, order.cgroup_dir, group, Value{1}, order.plugin, order.ttl});
  }
  Steps steps;
  for (const auto& [name, order] : implied) steps.push_back(order_step(order));
  run(steps);
  for (Step& step : steps) {
    remember(step);
    if (step.done.outcome == decision::Outcome::failed) failed.emplace(step.key.cgroup_dir, std::move(step.done));
  }
}

// Returns whether an order sets the group's share of caches or of memory bandwidth.
bool Executor::shares_out(const std::string& group) const {
  return ordered_.contains({group, std::string(kCacheShare), {}}) ||
         ordered_.contains({group, std::string(kBandwidthShare), {}});
}

void Executor::drop(const KnobKey& key) {
  if (ordered_.erase(key) == 0) return;
  seen_.erase(key);
  if (held_.contains(key)) given_up_.insert(key);
  const bool is_share = key.resource == kCacheShare || key.resource == kBandwidthShare;
  if (is_share && !shares_out(key.cgroup_dir)) drop({key.cgroup_dir, std::string(kGroup), {}});
}

bool Executor::has_reverts() const {
  const Time now = clock_.now();
  return std::any_of(given_up_.begin(), given_up_.end(),
                     [&](const KnobKey& key) { return held_.at(key).adopted_until.value_or(now) <= now; });
}

Executor::Steps Executor::reverts(bool of_groups) {
  const Time now = clock_.now();
  Steps steps;
  for (const KnobKey& key : given_up_) {
    Held& held = held_.at(key);
    const bool is_group = held.knob->place == Place::resctrl_group;
    if (is_group == of_groups && held.adopted_until.value_or(now) <= now) steps.push_back(revert_step(key, held));
  }
  return steps;
}

void Executor::report_reverts(Steps& steps, Report& report) {
  for (Step& step : steps) {
    if (step.order) continue;
    bool again = false;
    Held& held = held_.at(step.key);
    std::string plugin = held.plugin, original = spell(*step.knob, held.original.value);
    if (step.done.outcome == decision::Outcome::failed)
      again = std::exchange(held.problem, step.done.problem) == step.done.problem;
    else
      forget(step.key);
    report.undone.push_back({step.key, step.knob, std::move(step.done), std::move(plugin), again, std::move(original)});
  }
}

std::vector<Executor::Holding> Executor::holdings() const {
  std::vector<Holding> holdings;
  holdings.reserve(held_.size());
  for (const auto& [key, held] : held_)
    holdings.push_back({held.level, key, held.knob, held.original.value, held.plugin, held.problem});
  return holdings;
}

Done Executor::run_one_shot(const Order& order) const {
  const Result<std::int64_t> done =
      files_.run_one_shot({*order.knob, order.cgroup_dir}, order.value.amount, clock_, kLongestOneShot);
  if (!done) return {outcome_of(done.error()), {}, {}, done.error().message()};
  return {decision::Outcome::applied, {}, std::to_string(*done), {}};
}

void Executor::forget(const KnobKey& key) {
  given_up_.erase(key);
  if (held_.erase(key) > 0) originals_.forgotten(key);
}

void Executor::fail(Step& step, const Error& error) {
  step.done.outcome = outcome_of(error);
  step.done.problem = error.message();
  step.writes = false;
  if (step.done.outcome == decision::Outcome::gone && step.order) forget(step.key);
}

Result<KnobFiles::Reading> Executor::read(const Step& step) const {
  return files_.read({*step.knob, step.key.cgroup_dir, step.key.item});
}

// Takes the result of an earlier step with the same value while it is trusted. Returns false if there is no result to
// take.
bool Executor::recall(Step& step) {
  const auto found = seen_.find(step.key);
  if (found == seen_.end()) return false;
  Seen& seen = found->second;
  const bool is_same =
      seen.knob == step.knob && same(*step.knob, seen.asked, step.asked) && same(*step.knob, step.asked, seen.asked);
  if (!is_same || clock_.now() >= seen.until) return false;
  step.done = seen.done;
  step.is_seen = true;
  return true;
}

void Executor::remember(Step& step) {
  const auto held = held_.find(step.key);
  if (held != held_.end() && step.done.outcome == decision::Outcome::applied) held->second.plugin = step.order->plugin;
  if (step.is_seen) return;
  step.done.good_until = step.knob->is_one_shot ? Time::max() : good_until(step);
  if (step.knob->is_one_shot) return;
  if (step.done.good_until <= clock_.now()) return void(seen_.erase(step.key));
  Seen seen{step.knob, step.order->value, step.done.good_until, step.done};
  seen.done.before = seen.done.after;
  seen_.insert_or_assign(step.key, std::move(seen));
}

Duration Executor::trust(const KnobKey& key, Duration refresh) {
  constexpr std::size_t kSteps = 1024;
  const std::size_t step = KnobKeyHash()(key) % kSteps;
  return refresh - refresh / 2 * step / kSteps;
}

// Returns until when the result is trusted. A time in the past means that the next round tries again.
Time Executor::good_until(const Step& step) const {
  const auto held = held_.find(step.key);
  const Time now = clock_.now(), refreshed = now + trust(step.key, limits_.refresh);
  const bool is_contested = held != held_.end() && held->second.overwrites > 0;
  switch (step.done.outcome) {
    case decision::Outcome::applied:
      if (!step.remark.empty()) return {};   // the full target may soon be possible
      if (step.has_new_original) return {};  // the order is composed again from it
      return is_contested ? std::min(refreshed, now + kQuiet[held->second.overwrites - 1]) : refreshed;
    case decision::Outcome::contested:
      return is_contested ? std::min(refreshed, held->second.contested_at + kQuiet[held->second.overwrites - 1])
                          : refreshed;
    case decision::Outcome::unsupported:
      return refreshed;
    case decision::Outcome::failed:
      return step.refused ? now + kQuiet[0] : Time{};
    default:
      return {};
  }
}

// Reads the current value. Returns false if nothing has to be written; the outcome says why.
bool Executor::examine(Step& step) {
  Result<KnobFiles::Reading> now = read(step);
  if (!now) return fail(step, now.error()), false;
  step.now = *std::move(now);
  step.before = step.now.value;
  step.done.before = step.done.after = spell(*step.knob, step.now.value);
  // A new cgroup has the name of the old cgroup. The held value ended with the old cgroup.
  const auto held = held_.find(step.key);
  if (held == held_.end() || held->second.original.cgroup == step.now.cgroup) return true;
  if (step.original) return step.done.outcome = decision::Outcome::gone, false;
  forget(step.key);
  return true;
}

Step Executor::order_step(const Order& order) {
  Step step{order.level, {order.cgroup_dir, std::string(order.knob->resource), order.value.item},
            order.knob,  {},
            order.value, nullptr,
            {}};
  step.order = &order;
  if (order.knob->is_one_shot) return step.done = run_one_shot(order), step;
  ordered_.insert(step.key);
  given_up_.erase(step.key);
  if (auto held = held_.find(step.key); held != held_.end()) {
    held->second.adopted_until.reset();
    held->second.problem.clear();
    if (heal(step.key, held->second)) healed_.push_back(&order);
  }
  if (recall(step)) return step;
  Result<Value> target = files_.settled(*order.knob, order.value);
  if (!target) return fail(step, target.error()), step;
  step.target = *std::move(target);
  if (examine(step)) decide_write(step);
  keep_directory(step);
  return step;
}

// Keeps the cgroup's directory open for the write, if fewer than kMostOpenDirectories are open in this round.
void Executor::keep_directory(Step& step) {
  if (!step.writes || open_directories_ >= kMostOpenDirectories)
    step.now.directory.reset();
  else
    ++open_directories_;
}

// Returns the value that the pod's spec decides, if it decides this knob, else `original`. The value that was found may
// have been raised by a different agent, or by this agent before its journal began.
KnobFiles::Reading Executor::original_in(const KnobKey& key, const Knob& knob, KnobFiles::Reading original) const {
  original.directory.reset();
  if (!owner_base_ || knob.is_one_shot) return original;
  const std::optional<Value> base = owner_base_(key, knob, original.value);
  if (!base || same(knob, original.value, *base)) return original;
  Result<Texts> texts = files_.texts_of(knob, *base);
  if (!texts) return original;
  original.texts = *std::move(texts);
  original.value = *base;
  return original;
}

// Replaces the held original by the value that the pod's spec decides. Returns true if the original changed.
bool Executor::heal(const KnobKey& key, Held& held) {
  KnobFiles::Reading healed = original_in(key, *held.knob, held.original);
  const bool is_other = healed.texts != held.original.texts;
  held.original = std::move(healed);
  return is_other;
}

// Stores the healed originals, even if nothing is written to the kernel now, because the next agent may have to revert
// before it knows the pods. If they cannot be stored, the journal keeps the earlier originals.
void Executor::keep_healed() {
  std::vector<Original> originals;
  for (const Order* order : std::exchange(healed_, {})) {
    const auto found = held_.find(key_of(*order));
    if (found == held_.end()) continue;
    const auto& [key, held] = *found;
    originals.push_back({.key = key,
                         .level = held.level,
                         .knob = std::string(held.knob->name),
                         .cgroup = held.original.cgroup,
                         .texts = held.original.texts,
                         .written = held.written,
                         .asked = {held.written},
                         .plugin = held.plugin,
                         .ttl = order->ttl});
  }
  if (!originals.empty()) static_cast<void>(originals_.keep(originals));
}

Result<Value> Executor::value_before(const KnobKey& key, const Knob& knob) const {
  KnobFiles::Reading now = TRY(files_.read({knob, key.cgroup_dir, key.item}));
  const auto held = held_.find(key);
  const bool is_held = held != held_.end() && held->second.original.cgroup == now.cgroup;
  if (!is_held) return std::move(now.value);
  // Two knobs of one resource, such as cpu.shares and cpu.weight, have different numbers for the same value.
  return held->second.knob == &knob ? held->second.original.value
                                    : files_.decoded(knob, held->second.original.texts, key.item);
}

void Executor::decide_write(Step& step) {
  const auto held = held_.find(step.key);
  const bool is_settled = same(*step.knob, step.now.value, step.target);
  step.done.outcome = decision::Outcome::applied;
  if (held != held_.end() && is_contested(step, held->second) && !is_settled) {
    step.done.outcome = decision::Outcome::contested;
    return;
  }
  step.writes = !is_settled;
  if (step.writes && held != held_.end()) take_original(step, held->second);
}

Step Executor::revert_step(const KnobKey& key, Held& held) {
  heal(key, held);
  Value target = files_.restorable({*held.knob, key.cgroup_dir, key.item}, held.original.value);
  Step step{held.level, key, held.knob, std::move(target), {}, &held.original, {}};
  if (!examine(step)) return step;
  // A newer write of a different process takes precedence.
  step.writes = !is_of_others(held, step.now);
  step.done.outcome = step.writes ? decision::Outcome::reverted : decision::Outcome::left;
  keep_directory(step);
  return step;
}

// Also writes the unchanged burst of each quota that is written, because the kernel accepts no burst above the quota.
void Executor::join_bursts(Steps& steps) {
  std::set<std::string_view> quotas;
  for (const Step& step : steps)
    if (step.writes && step.key.resource == "cpu.max") quotas.insert(step.key.cgroup_dir);
  if (quotas.empty()) return;
  for (Step& step : steps) {
    const bool stays = step.done.outcome == decision::Outcome::applied && !step.writes;
    if (!stays || step.key.resource != "cpu.max.burst" || !quotas.contains(step.key.cgroup_dir)) continue;
    step.is_seen = false;
    step.target = step.asked;
    if (examine(step)) step.writes = true;
  }
}

// Postpones writes above the rate to the next round.
void Executor::hold_up(Steps& steps) {
  const Time now = clock_.now();
  const auto rate = static_cast<double>(limits_.writes_per_second);
  const double seconds = writes_counted_at_ ? std::chrono::duration<double>(now - *writes_counted_at_).count() : 1.0;
  writes_left_ = std::min(rate, writes_left_ + seconds * rate);
  writes_counted_at_ = now;
  for (Step& step : steps) {
    if (!step.writes) continue;
    if (writes_left_ >= 1) {
      writes_left_ -= 1;
      continue;
    }
    step.writes = false;
    step.done.outcome = decision::Outcome::failed;
    step.done.problem = "waits for its turn: more than " + std::to_string(limits_.writes_per_second) +
                        " knobs were to be written in a second";
  }
}

}  // namespace koord::knob
