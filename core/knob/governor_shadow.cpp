// SPDX-License-Identifier: Apache-2.0
// Finds the effects of a cap in shadow on the cgroups inside that have no intent of their own.
#include <utility>

#include "core/knob/governor.hpp"

namespace koord::knob {

void Governor::reconcile_shadow_cap(Entry& entry, const Intents& intents) {
  auto& [key, state] = entry;
  const std::optional<Bound> cap = strictest_cap(key, intents);
  // An enforced cap has been spread already (spread_cap()).
  if (!cap || mode_of({cap->plugin, {}, 0}) != Mode::shadow) {
    state.shadow_cap = {};
    return;
  }
  const Time now = clock_.now();
  const std::string value = spell(*cap->knob, cap->value);
  if (state.shadow_cap.value == value && now < state.shadow_cap.until) return;
  std::map<std::string, std::string> inside;
  check_inside(key, *cap, inside, state.shadow_cap);
  state.shadow_cap = {value, now + Executor::trust(key, refresh_), std::move(inside)};
}

void Governor::check_inside(const KnobKey& key, const Bound& cap, std::map<std::string, std::string>& found,
                            ShadowCap& before) {
  for (const InnerValue& inner : values_inside(key, cap)) {
    const std::string& dir = inner.key.cgroup_dir;
    const Subject* subject = subjects_->of(dir);
    if (subject != nullptr && covers(subject->hands_off, *cap.knob, cap.plugin)) continue;
    if (inner.is_larger) {
      const Result<Composition> made = compose({}, {cap, {}}, [&] {
        return Result<Base>(Base{cap.knob, inner.value, "current"});
      });
      const std::string wanted = made ? equation(*made) : std::string();
      if (made && before.inside[dir] != wanted) record_shadow_cap(inner.key, cap, spell(*cap.knob, inner.value), *made);
      found[dir] = wanted;
    }
    if (!inner.is_limited || inner.is_larger) check_inside(inner.key, cap, found, before);
  }
}

void Governor::record_shadow_cap(const KnobKey& key, const Bound& cap, const std::string& now,
                                 const Composition& made) {
  decision::Decision decision;
  decision.time = clock_.now();
  decision.plugin = decision.winner = cap.plugin;
  decision.cgroup_dir = key.cgroup_dir;
  decision.knob = std::string(cap.knob->name);
  decision.level = level_of(key);
  decision.role = decision::Role::cap;
  decision.reason = reason_of_cap(cap);
  decision.before = decision.after = now;
  decision.wanted = spell(*made.knob, made.value);
  decision.composition = equation(made);
  decision.outcome = decision::Outcome::shadow;
  record(std::move(decision));
}

std::string Governor::reason_of_cap(const Bound& cap) {
  return "'" + cap.cgroup_dir + "' is capped at " + spell(*cap.knob, cap.value) +
         ", and the kernel allows no more inside of it";
}

}  // namespace koord::knob
