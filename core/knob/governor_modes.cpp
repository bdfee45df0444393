// SPDX-License-Identifier: Apache-2.0
// Decides which strategies may write: modes, an operator's overrides, and hands off.
#include <algorithm>
#include <utility>

#include "core/base/parse.hpp"
#include "core/knob/governor.hpp"

namespace koord::knob {
namespace {

std::string switched_to(std::string_view plugin, Mode mode) {
  return "'" + std::string(plugin) + "' is " + (mode == Mode::shadow ? "in shadow" : std::string(to_string(mode))) +
         " now";
}

}  // namespace

void Governor::set_mode(std::string_view plugin, std::optional<Mode> mode) {
  std::lock_guard lock(mutex_);
  const Mode before = modes_.of(plugin);
  modes_.configure(plugin, mode);
  if (modes_.of(plugin) == before) return;
  const bool proposes =
      std::any_of(strategies_.begin(), strategies_.end(), [&](const auto& s) { return s.first.plugin == plugin; });
  if (!proposes) return;
  mark_all_dirty();
  reconcile(switched_to(plugin, modes_.of(plugin)));
}

void Governor::set_node_mode(Mode mode) {
  std::lock_guard lock(mutex_);
  if (modes_.view(decision::kNodeTarget).configured == mode) return;
  modes_.configure_node(mode);
  if (strategies_.empty()) return;
  mark_all_dirty();
  reconcile(switched_to("qos.mode", mode));
}

Result<void> Governor::override_mode(std::string_view target, Mode mode, Duration how_long, const std::string& by) {
  if (how_long < decision::Modes::kLeastOverride || how_long > decision::Modes::kMostOverride)
    return invalid("'" + format_duration(how_long) + "' is not a duration for a mode to hold, expected 1s to 168h");
  std::lock_guard lock(mutex_);
  return change_override(target, decision::Modes::Override{mode, clock_.now() + how_long, by},
                         "set by " + by + " for " + format_duration(how_long));
}

Result<void> Governor::end_override(std::string_view target, const std::string& by) {
  std::lock_guard lock(mutex_);
  if (!modes_.view(target).override_mode)
    return invalid("'" + std::string(target) + "' has the mode that is configured");
  return change_override(target, std::nullopt, "set to the configured mode by " + by);
}

Mode Governor::mode(std::string_view plugin) const {
  std::lock_guard lock(mutex_);
  return modes_.of(plugin);
}

decision::Modes::View Governor::mode_view(std::string_view target) const {
  std::lock_guard lock(mutex_);
  return modes_.view(target);
}

Result<void> Governor::change_override(std::string_view target, std::optional<decision::Modes::Override> what,
                                       const std::string& why) {
  const Mode before = modes_.view(target).mode;
  TRY(modes_.override_mode(target, what));
  record_switch(target, before, why);
  mark_all_dirty();
  reconcile(switched_to(target, modes_.view(target).mode));
  return {};
}

void Governor::expire_overrides(Time now) {
  const decision::Modes before = modes_;
  const std::vector<std::string> ended = modes_.expire(now);
  for (const std::string& target : ended)
    record_switch(target, before.view(target).mode, "the operator's setting has expired");
  if (ended.empty()) return;
  mark_all_dirty();
  reconcile("the operator's setting for " + join(ended, ", ") + " has expired");
}

void Governor::record_switch(std::string_view target, Mode before, const std::string& why) {
  const Mode now = modes_.view(target).mode;
  decision::Decision decision;
  decision.time = clock_.now();
  decision.kind = decision::DecisionKind::mode;
  decision.plugin = std::string(target);
  decision.reason = why;
  decision.before = std::string(to_string(before));
  decision.wanted = decision.after = std::string(to_string(now));
  decision.outcome = decision::Outcome::switched;
  record(std::move(decision));
}

void Governor::set_subjects(SubjectsPtr subjects) {
  std::lock_guard lock(mutex_);
  const SubjectsPtr before = std::exchange(subjects_, std::move(subjects));
  executor_.set_pinned(subjects_->pinned());
  bool is_annotated = false;
  for (const auto& [proposer, strategy] : strategies_)
    is_annotated |= std::any_of(strategy.intents.begin(), strategy.intents.end(),
                                [this](const auto& active) { return active->hands_off != is_hands_off(*active); });
  mark_changed_subjects(*before);
  if (dirty_.empty()) return;
  reconcile(is_annotated ? "the pod's annotation " + std::string(decision::kHandsOffAnnotation) + " has changed"
                         : std::string());
}

bool Governor::is_hands_off(const ActiveIntent& intent) const {
  const Subject* subject = subjects_->of(intent.proposed.cgroup_dir);
  return subject != nullptr && covers(subject->hands_off, *intent.proposed.knob, intent.proposed.proposer->plugin);
}

// Marks the knobs that the changed subjects affect: by a base, the containers of a pod, or hands off.
void Governor::mark_changed_subjects(const Subjects& before) {
  for (auto& [proposer, strategy] : strategies_)
    for (const auto& active : strategy.intents) {
      const bool had_hands_off = std::exchange(active->hands_off, is_hands_off(*active));
      if (had_hands_off != active->hands_off) mark_dirty(*active->entry);
    }
  // Hands off of a pod may make the cap of its QoS class impossible, or possible again.
  if (before.hands_off() != subjects_->hands_off())
    for (const auto& [key, cap] : caps_)
      if (const auto entry = states_.find(key); entry != states_.end()) mark_dirty(*entry);
  const bool is_other_rule = before.quota_rules() != subjects_->quota_rules();
  for (Entry& entry : states_) {
    const Subject* was = before.at(entry.first.cgroup_dir);
    const Subject* is = subjects_->at(entry.first.cgroup_dir);
    const bool is_same = was == is || (was != nullptr && is != nullptr && was->limits == is->limits &&
                                       was->containers == is->containers && was->has_own_cpus == is->has_own_cpus &&
                                       was->hands_off == is->hands_off);
    if (!is_same || is_other_rule) mark_dirty(entry);
  }
}

}  // namespace koord::knob
