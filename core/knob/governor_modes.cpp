// SPDX-License-Identifier: Apache-2.0
// Who may write what: modes, an operator's overrides, and hands off.
#include <algorithm>
#include <utility>

#include "core/base/parse.hpp"
#include "core/knob/governor.hpp"

namespace koord::knob {
namespace {

std::string switched_to(std::string_view plugin, Mode mode) {
  return "'" + std::string(plugin) + "' is " + (mode == Mode::shadow ? "in shadow" : std::string(name_of(mode))) + " now";
}

}  // namespace

void Governor::set_mode(std::string_view plugin, std::optional<Mode> mode) {
  std::lock_guard lock(mutex_);
  const Mode before = modes_.of(plugin);
  modes_.configure(plugin, mode);
  if (modes_.of(plugin) == before) return;
  const bool proposes = std::any_of(strategies_.begin(), strategies_.end(), [&](const auto& s) { return s.first.plugin == plugin; });
  if (!proposes) return;
  call_all();
  settle(switched_to(plugin, modes_.of(plugin)));
}

void Governor::set_node_mode(Mode mode) {
  std::lock_guard lock(mutex_);
  if (modes_.view(kNodeTarget).configured == mode) return;
  modes_.configure_node(mode);
  if (strategies_.empty()) return;
  call_all();
  settle(switched_to("qos.mode", mode));
}

Result<void> Governor::override_mode(std::string_view target, Mode mode, Duration how_long) {
  if (how_long < Modes::kLeastOverride || how_long > Modes::kMostOverride)
    return invalid("'" + format_duration(how_long) + "' is no time for a mode to hold, expected 1s to 168h");
  std::lock_guard lock(mutex_);
  return change_override(target, Modes::Override{mode, clock_.now() + how_long},
                         "an operator said so, for " + format_duration(how_long));
}

Result<void> Governor::end_override(std::string_view target) {
  std::lock_guard lock(mutex_);
  if (!modes_.view(target).override_mode) return invalid("'" + std::string(target) + "' has the mode that is configured");
  return change_override(target, std::nullopt, "an operator ended what was said for a while");
}

Mode Governor::mode(std::string_view plugin) const {
  std::lock_guard lock(mutex_);
  return modes_.of(plugin);
}

Modes::View Governor::mode_view(std::string_view target) const {
  std::lock_guard lock(mutex_);
  return modes_.view(target);
}

Result<void> Governor::change_override(std::string_view target, std::optional<Modes::Override> what, const std::string& why) {
  const Mode before = modes_.view(target).mode;
  TRY(modes_.override_mode(target, what));
  record_switch(target, before, why);
  call_all();
  settle(switched_to(target, modes_.view(target).mode));
  return {};
}

void Governor::expire_overrides(Time now) {
  const Modes before = modes_;
  const std::vector<std::string> ended = modes_.expire(now);
  for (const std::string& target : ended) record_switch(target, before.view(target).mode, "the time for which an operator said otherwise is over");
  if (ended.empty()) return;
  call_all();
  settle("the time for which " + join(ended, ", ") + " had another mode is over");
}

void Governor::record_switch(std::string_view target, Mode before, const std::string& why) {
  const Mode now = modes_.view(target).mode;
  Decision decision;
  decision.time = clock_.now();
  decision.plugin = std::string(target);
  decision.reason = why;
  decision.before = std::string(name_of(before));
  decision.wanted = decision.after = std::string(name_of(now));
  decision.outcome = Outcome::switched;
  record(std::move(decision));
}

void Governor::set_subjects(SubjectsPtr subjects) {
  std::lock_guard lock(mutex_);
  subjects_ = std::move(subjects);
  executor_.set_pinned(subjects_->pinned());
  look_for_hands_off();
  if (!called_.empty()) settle("the pod's annotation " + std::string(kHandsOffAnnotation) + " has changed");
}

bool Governor::is_hands_off(const Standing& standing) const {
  const Subject* subject = subjects_->of(standing.intent.cgroup_dir);
  return subject != nullptr && subject->hands_off.covers(*standing.knob, standing.proposer.plugin);
}

// Calls the cases of wishes for which it has changed.
void Governor::look_for_hands_off() {
  for (auto& [proposer, strategy] : strategies_)
    for (const auto& standing : strategy.wishes) {
      const bool before = std::exchange(standing->hands_off, is_hands_off(*standing));
      if (before != standing->hands_off) call(*standing->its_case);
    }
}

}  // namespace koord::knob
