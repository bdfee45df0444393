// SPDX-License-Identifier: Apache-2.0
// The governor's start and end: adopts the originals of a previous agent, reverts all knobs, or leaves all knobs to the
// next agent.
#include "core/knob/governor.hpp"

namespace koord::knob {

std::vector<KnobKey> Governor::adopt(const std::vector<Original>& left, Duration patience, bool and_ttl) {
  std::lock_guard lock(mutex_);
  return executor_.adopt(left, patience, and_ttl);
}

Result<void> Governor::hold(std::span<const Adjusted> adjusted, Duration patience) {
  std::lock_guard lock(mutex_);
  if (has_ended_) return invalid("knobs are left or reverted already");  // the next session holds them
  return executor_.hold(adjusted, patience);
}

std::size_t Governor::adopted() const {
  std::lock_guard lock(mutex_);
  return executor_.adopted();
}

std::vector<Undone> Governor::restore(const std::string& by) {
  std::lock_guard lock(mutex_);
  const std::string why = "all knobs are reverted by " + by;
  const Mode before = modes_.view(decision::kNodeTarget).mode;
  const Mode most = modes_.is_hands_off() ? Mode::off : Mode::shadow;
  // Lowering the node's mode is always allowed. The override stays until an operator ends it.
  if (modes_.override_mode(decision::kNodeTarget, decision::Modes::Override{most, Time::max(), by}))
    record_switch(decision::kNodeTarget, before, why);
  executor_.end_patience();
  mark_all_dirty();
  return reconcile(why);
}

std::vector<Undone> Governor::stop() {
  std::lock_guard lock(mutex_);
  if (has_ended_) return {};
  has_ended_ = true;
  strategies_.clear();
  states_.clear(), dirty_.clear(), due_.clear(), caps_.clear();
  executor_.end_patience();
  return record_all(executor_.apply({}).undone, "the agent ends");
}

void Governor::leave() {
  std::lock_guard lock(mutex_);
  has_ended_ = true;
}

}  // namespace koord::knob
