// SPDX-License-Identifier: Apache-2.0
#include "core/knob/executor.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace koord::knob {
namespace {

std::size_t depth_of(const std::string& cgroup_dir) {
  return static_cast<std::size_t>(std::count(cgroup_dir.begin(), cgroup_dir.end(), '/'));
}

}  // namespace

Outcome outcome_of(const Error& error) {
  if (error.is(std::errc::no_such_device)) return Outcome::gone;
  return error.is(std::errc::not_supported) ? Outcome::unsupported : Outcome::failed;
}

Executor::Executor(const KnobFiles& files, Originals& originals, const Clock& clock)
    : files_(files), originals_(originals), clock_(clock) {
  adopt(originals_.all(), Duration(0), false);
}

Executor::Report Executor::apply(const std::vector<Order>& orders) {
  files_.forget_threads();
  std::vector<Step> steps;
  steps.reserve(orders.size() + held_.size());
  std::set<KnobKey> ordered;
  for (const Order& order : orders) {
    if (order.knob->is_act) {
      Step step{order.level, {}, order.knob, {}, {}, nullptr, {}, false, {}};
      step.done = act(order);
      steps.push_back(std::move(step));
      continue;
    }
    steps.push_back(order_step(order));
    ordered.insert(steps.back().key);
  }
  const Time now = clock_.now();
  for (auto& [key, held] : held_)
    if (!ordered.contains(key) && held.adopted_until.value_or(now) <= now) steps.push_back(revert_step(key, held));

  keep_originals(steps);
  std::vector<Step*> to_write;
  for (Step& step : steps)
    if (step.writes) to_write.push_back(&step);
  widen_then_narrow(std::move(to_write));
  files_.forget_threads();

  Report report;
  for (Step& step : steps) {
    if (step.writes && step.done.problem.empty()) verify(step);
    if (!step.original) {
      report.done.push_back(std::move(step.done));
      continue;
    }
    bool again = false;
    if (step.done.outcome == Outcome::failed) {
      std::string& problem = held_.at(step.key).problem;
      again = std::exchange(problem, step.done.problem) == step.done.problem;
    } else {
      forget(step.key);
    }
    report.undone.push_back({step.key, step.knob, std::move(step.done), again});
  }
  originals_.flush();
  return report;
}

std::vector<Executor::Holding> Executor::holdings() const {
  std::vector<Holding> holdings;
  holdings.reserve(held_.size());
  for (const auto& [key, held] : held_) holdings.push_back({held.level, key, held.knob, held.original.value});
  return holdings;
}

Done Executor::act(const Order& order) const {
  const Result<std::int64_t> done = files_.act({*order.knob, order.cgroup_dir}, order.value.amount, clock_, kLongestAct);
  if (!done) return {outcome_of(done.error()), {}, {}, done.error().message()};
  return {Outcome::applied, {}, std::to_string(*done), {}};
}

// All at once: to make them durable takes long.
void Executor::keep_originals(std::vector<Step>& steps) {
  std::vector<Original> originals;
  for (Step& step : steps) {
    if (!step.writes) continue;
    Result<Original> original = original_of(step);
    if (original)
      originals.push_back(*std::move(original));
    else
      fail(step, original.error());
  }
  if (originals.empty()) return;
  const Result<void> kept = originals_.keep(originals);
  if (kept) return;
  for (Step& step : steps)  // what is given back has been kept before
    if (step.writes && step.order) fail(step, kept.error());
}

// With all that the knob may have from now on until it is read back.
Result<Original> Executor::original_of(const Step& step) const {
  const auto found = held_.find(step.key);
  const Held* held = found == held_.end() ? nullptr : &found->second;
  const KnobFiles::Reading& before = held ? held->original : step.now;
  Original original{.key = step.key,
                    .level = step.level,
                    .knob = std::string(step.knob->name),
                    .cgroup = before.cgroup,
                    .texts = before.texts,
                    .written = step.now.texts};
  if (step.order) original.plugin = step.order->plugin;
  if (step.order) original.ttl = step.order->ttl;
  original.asked.push_back(TRY(files_.texts_of(*step.knob, widest(*step.knob, step.now.value, step.target))));
  original.asked.push_back(step.original ? step.original->texts : TRY(files_.texts_of(*step.knob, step.asked)));
  return original;
}

void Executor::forget(const KnobKey& key) {
  if (held_.erase(key) > 0) originals_.forgotten(key);
}

void Executor::fail(Step& step, const Error& error) {
  step.done.outcome = outcome_of(error);
  step.done.problem = error.message();
  step.writes = false;
}

// Reads what is there; false: nothing is to be done, the outcome tells why.
bool Executor::examine(Step& step) {
  auto held = held_.find(step.key);
  Result<KnobFiles::Reading> now = files_.read({*step.knob, step.key.cgroup_dir, step.key.item});
  if (!now) {
    fail(step, now.error());
    if (step.done.outcome == Outcome::gone && held != held_.end() && !step.original) forget(step.key);
    return false;
  }
  step.now = *std::move(now);
  step.done.before = step.done.after = spell(*step.knob, step.now.value);
  // A new cgroup of an old one's name: what was held went with that.
  if (held == held_.end() || held->second.original.cgroup == step.now.cgroup) return true;
  if (step.original) step.done.outcome = Outcome::gone;
  if (!step.original) forget(step.key);
  return step.original == nullptr;
}

Executor::Step Executor::order_step(const Order& order) {
  Step step{order.level, {order.cgroup_dir, std::string(order.knob->resource), order.value.item}, order.knob, {}, order.value, nullptr, {}, false, {}, &order};
  Result<Value> target = files_.settled(*order.knob, order.value);
  if (!target) return fail(step, target.error()), step;
  step.target = *std::move(target);
  if (auto held = held_.find(step.key); held != held_.end()) held->second.adopted_until.reset();
  if (!examine(step)) return step;
  decide_write(step);
  return step;
}

void Executor::decide_write(Step& step) {
  auto found = held_.find(step.key);
  Held* held = found == held_.end() ? nullptr : &found->second;
  bool is_settled = same(*step.knob, step.now.value, step.target);
  if (held && (is_settled || held->knob != step.knob || !same(*step.knob, held->target, step.target))) held->contests = 0;
  if (is_settled) {
    step.done.outcome = Outcome::applied;
    return;
  }
  if (held && !says(*step.knob, step.now.texts, held->written)) ++held->contests;
  step.writes = !held || held->contests < kMostContests;
  if (!step.writes) step.done.outcome = Outcome::contested;
}

Executor::Step Executor::revert_step(const KnobKey& key, Held& held) {
  Step step{held.level, key, held.knob, held.original.value, {}, &held.original, {}, false, {}};
  if (!examine(step)) return step;
  // Who has written since we have knows better.
  step.writes = says(*step.knob, step.now.texts, held.written);
  step.done.outcome = step.writes ? Outcome::reverted : Outcome::left;
  return step;
}

void Executor::widen_then_narrow(std::vector<Step*> steps) {
  auto outer_first = [](const Step* a, const Step* b) {
    return std::tuple(a->level, depth_of(a->key.cgroup_dir), a->key) < std::tuple(b->level, depth_of(b->key.cgroup_dir), b->key);
  };
  std::stable_sort(steps.begin(), steps.end(), outer_first);
  for (Step* step : steps) write(*step, widest(*step->knob, step->now.value, step->target));
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) write(**step, (*step)->target);
}

void Executor::write(Step& step, const Value& value) {
  if (!step.writes || same(*step.knob, value, step.now.value)) return;
  bool is_target = same(*step.knob, value, step.target);
  Result<Texts> texts = is_target && step.original ? step.original->texts
                                                   : files_.texts_of(*step.knob, is_target ? step.asked : value);
  if (!texts) return fail(step, texts.error());
  auto [held, first] = held_.emplace(step.key, Held{step.level, step.knob, step.now});
  Result<void> written = files_.write({*step.knob, step.key.cgroup_dir, step.key.item}, *texts, step.now.texts);
  held->second.knob = step.knob;
  held->second.target = step.target;
  held->second.written = *texts;
  originals_.wrote(step.key, *texts);
  if (written) {
    step.now.texts = *std::move(texts);
    step.now.value = value;
    return;
  }
  fail(step, written.error());
  Result<KnobFiles::Reading> now = files_.read({*step.knob, step.key.cgroup_dir, step.key.item});
  if (now) {
    held->second.written = now->texts;
    originals_.wrote(step.key, now->texts);
    step.done.after = spell(*step.knob, now->value);
  }
  // Of two files one may have been written; else there is nothing to give back.
  if (first && (!now || now->texts == held->second.original.texts)) forget(step.key);
}

void Executor::verify(Step& step) {
  Result<KnobFiles::Reading> now = files_.read({*step.knob, step.key.cgroup_dir, step.key.item});
  if (!now) return fail(step, now.error());
  step.done.after = spell(*step.knob, now->value);
  auto held = held_.find(step.key);
  if (held != held_.end() && held->second.written != now->texts) {
    held->second.written = now->texts;
    originals_.wrote(step.key, now->texts);
  }
  if (same(*step.knob, now->value, step.target)) {
    if (!step.original) step.done.outcome = Outcome::applied;
    return;
  }
  if (held != held_.end()) ++held->second.contests;
  step.done.outcome = Outcome::failed;
  step.done.problem = "it was written, and reads as '" + step.done.after + "'";
}

}  // namespace koord::knob
