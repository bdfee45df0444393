// SPDX-License-Identifier: Apache-2.0
// Writes the steps of a round and reads them back.
#include <algorithm>
#include <array>

#include "core/knob/executor.hpp"
#include "core/knob/failures.hpp"
#include "core/knob/surroundings.hpp"

namespace koord::knob {
namespace {

// Returns whether the value may be valid in a different order of writes, or with different values of the parent and
// child cgroups.
bool is_of_order(const Error& error) {
  constexpr std::array kCodes{std::errc::invalid_argument, std::errc::device_or_resource_busy,
                              std::errc::permission_denied, std::errc::no_space_on_device};
  return std::any_of(kCodes.begin(), kCodes.end(), [&](std::errc code) { return error.is(code); });
}

}  // namespace

void Executor::run(Steps& all) {
  std::vector<Step*> steps;
  for (Step& step : all)
    if (step.writes) steps.push_back(&step);
  if (steps.empty()) return;
  const std::vector<PlannedWrite> writes = plan(steps);
  keep_originals(steps);
  write_planned(writes);
  if (std::any_of(steps.begin(), steps.end(), [](const Step* step) { return step->refused; })) {
    try_again(steps);
    roll_back(steps);
  }
  files_.begin_round();
  for (Step* step : steps)
    if (step->writes) verify(*step);
}

std::vector<PlannedWrite> Executor::plan(const std::vector<Step*>& steps) {
  std::vector<PlannedWrite> writes = plan_writes(steps, read_surroundings(files_, steps, pinned_));
  for (Step* step : steps) {
    if (!step->conflict.empty()) fail(*step, invalid(step->conflict));
    if (step->altered.empty() || !step->conflict.empty()) continue;
    step->asked = step->target;
    step->remark = step->altered;
    if (!same(*step->knob, step->now.value, step->target)) continue;
    step->writes = false;  // it already has the value that is possible
    step->done.problem = step->remark;
  }
  return writes;
}

void Executor::write_planned(const std::vector<PlannedWrite>& writes) {
  for (const PlannedWrite& planned : writes) write(*planned.step, planned.value);
}

// Plans and writes once more the refused steps, and the steps that do not have their target yet.
void Executor::try_again(const std::vector<Step*>& steps) {
  std::vector<Step*> again;
  for (Step* step : steps) {
    if (!step->refused) {
      if (step->writes && !same(*step->knob, step->now.value, step->target)) again.push_back(step);
      continue;
    }
    Result<KnobFiles::Reading> now = read(*step);
    if (!now || is_replaced(*step, *now)) continue;
    step->now = *std::move(now);
    step->refused = false;
    step->writes = true;
    again.push_back(step);
  }
  const std::vector<PlannedWrite> writes = plan(again);
  for (Step* step : again)  // stores the originals that a refused first write removed
    if (step->writes && !held_.contains(step->key)) keep_originals({step});
  write_planned(writes);
}

// Rolls back half-applied writes.
void Executor::roll_back(const std::vector<Step*>& steps) {
  std::vector<Step> half;
  for (Step* step : steps) {
    const bool is_at_an_end =
        same(*step->knob, step->now.value, step->before) || same(*step->knob, step->now.value, step->target);
    if (is_at_an_end || !held_.contains(step->key)) continue;
    half.push_back(*step);
    half.back().original = nullptr;
    half.back().target = half.back().asked = step->before;
    half.back().writes = true;
  }
  std::vector<Step*> back;
  for (Step& step : half) back.push_back(&step);
  write_planned(plan(back));
  for (const Step& step : half) {
    Step* whole = *std::find_if(steps.begin(), steps.end(), [&](const Step* each) { return each->key == step.key; });
    whole->now = step.now;
    whole->done.after = spell(*step.knob, step.now.value);
  }
}

// Stores all originals in one transaction, because making them durable takes long.
void Executor::keep_originals(const std::vector<Step*>& steps) {
  std::vector<Original> originals;
  for (Step* step : steps) {
    if (!step->writes) continue;
    Result<Original> original = original_of(*step);
    if (original)
      originals.push_back(*std::move(original));
    else
      fail(*step, original.error());
  }
  if (originals.empty()) return;
  const Result<void> kept = originals_.keep(originals);
  if (kept) return;
  for (Step* step : steps)  // originals of reverts were stored before
    if (step->writes && step->order) fail(*step, kept.error());
}

// Returns the original, with all values that the knob may have until it is read back.
Result<Original> Executor::original_of(const Step& step) const {
  const auto found = held_.find(step.key);
  const Held* held = found == held_.end() ? nullptr : &found->second;
  const KnobFiles::Reading before = held ? held->original : original_in(step.key, *step.knob, step.now);
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

void Executor::write(Step& step, const Value& value) {
  if (!step.writes) return;
  const bool is_target = same(*step.knob, value, step.target);
  const bool is_as_it_was = is_target && step.original && step.remark.empty();
  Result<Texts> texts =
      is_as_it_was ? step.original->texts : files_.texts_of(*step.knob, is_target ? step.asked : value);
  if (!texts) return fail(step, texts.error());
  const Texts before = step.now.texts;
  auto held = held_.find(step.key);
  const bool first = held == held_.end();
  if (first)
    held = held_
               .emplace(step.key, Held{step.level, step.knob, original_in(step.key, *step.knob, step.now),
                                       step.order ? step.order->plugin : std::string()})
               .first;
  Result<void> written = files_.replace({*step.knob, step.key.cgroup_dir, step.key.item}, *texts, step.now);
  if (std::exchange(held->second.knob, step.knob) != step.knob) {  // the resource's other knob has a different number
    if (Result<Value> original = files_.decoded(*step.knob, held->second.original.texts, step.key.item))
      held->second.original.value = *std::move(original);
  }
  held->second.target = step.target;
  held->second.written = *texts;
  originals_.wrote(step.key, *texts);
  if (written) {
    step.now.texts = *std::move(texts);
    step.now.value = value;
    return;
  }
  step.refused = is_of_order(written.error());
  fail(step, written.error());
  Result<KnobFiles::Reading> now = read(step);
  held = held_.find(step.key);
  if (held == held_.end()) return;
  if (now && !is_replaced(step, *now)) {
    held->second.written = now->texts;
    originals_.wrote(step.key, now->texts);
    step.done.after = spell(*step.knob, now->value);
    step.now = *now;
  }
  // One of two files may have been written. If the texts did not change, nothing has to be reverted.
  if (first && (!now || now->texts == before)) forget(step.key);
}

// Returns whether a different cgroup has taken the name of the cgroup that was read.
bool Executor::is_replaced(const Step& step, const KnobFiles::Reading& now) const {
  const Place place = step.knob->place;
  const bool is_of_cgroup = place == Place::cgroup || place == Place::root_cgroup || place == Place::processes;
  return is_of_cgroup && now.cgroup != step.now.cgroup;
}

void Executor::verify(Step& step) {
  Result<KnobFiles::Reading> now = read(step);
  if (now && is_replaced(step, *now)) now = ended("'" + step.key.cgroup_dir + "' has been replaced since it was read");
  if (!now) return fail(step, now.error());
  step.done.after = spell(*step.knob, now->value);
  auto held = held_.find(step.key);
  if (held != held_.end() && held->second.written != now->texts) {
    held->second.written = now->texts;
    originals_.wrote(step.key, now->texts);
  }
  if (same(*step.knob, now->value, step.target)) {
    step.done.outcome = step.original ? decision::Outcome::reverted : decision::Outcome::applied;
    step.done.problem = step.remark;
    return;
  }
  step.done.outcome = decision::Outcome::failed;
  step.done.problem = "it was written, and reads as '" + step.done.after + "'";
  if (step.original && step.knob->form == Form::set && step.original->texts[0].empty())
    step.done.problem =
        "it had none of its own, and the kernel takes none away while tasks are in there; until they are gone it has all, '" +
        step.done.after + "'";
}

}  // namespace koord::knob
