// SPDX-License-Identifier: Apache-2.0
// Detects other writers of a knob.
#include "core/base/parse.hpp"
#include "core/knob/executor.hpp"

namespace koord::knob {

// Returns whether a different process wrote the knob. Changes by the kernel itself do not count. For example, a new
// thread gets the resctrl group of its parent, and on v1 the kernel removes offline CPUs from each set. Processes that
// joined the cgroup since the last write do not count either, because they have values of their own.
bool Executor::is_of_others(const Held& held, const KnobFiles::Reading& now) const {
  if (says(*held.knob, now.texts, held.written) || held.knob->form == Form::group) return false;
  if (held.knob->place == Place::processes) return !is_any_of(*held.knob, now.texts, {&held.written});
  if (held.knob->resource != "cpuset.cpus" || now.value.set.empty()) return true;
  return now.value.set != (held.target.set & files_.online_cpus());
}

// Returns whether another process has written the knob recently and it is too early to write it again.
bool Executor::is_contested(Step& step, Held& held) {
  const Time now = clock_.now();
  const Time quiet_until = held.overwrites == 0 ? now : held.contested_at + kQuiet[held.overwrites - 1];
  if (!is_of_others(held, step.now)) {
    if (now >= held.contested_at + limits_.refresh && now >= quiet_until) held.overwrites = 0;
    return false;
  }
  if (now >= quiet_until) {
    // After the longest delay, one more write is tried.
    held.overwrites = held.overwrites == kMostOverwrites ? kMostOverwrites - 1 : held.overwrites + 1;
    held.contested_at = now;
    if (held.overwrites < kMostOverwrites) return false;
  }
  step.done.problem = "another process keeps writing it, now '" + step.done.before + "'; it is left alone for " +
                      format_duration(kQuiet[held.overwrites - 1]);
  return true;
}

// Makes the value of a different process the original. The kubelet writes a CPU set or a weight only once, when its
// pods change. If a revert wrote the older value, the kubelet would not correct it.
void Executor::take_original(Step& step, Held& held) {
  if (step.order == nullptr || !step.order->bounds_original || !is_of_others(held, step.now)) return;
  held.original = original_in(step.key, *step.knob, step.now);
  step.has_new_original = true;
}

}  // namespace koord::knob
