// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cgroup-reconcile/high_guard.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace koord::cgroup_reconcile {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeastStep = 1 << 20, kMostStep = 256 << 20;
constexpr std::int64_t kStepShare = 20;  // divisor: a step is a twentieth of the usage
constexpr int kMostRaises = 3;
constexpr std::chrono::nanoseconds kLongestCalm = 1h;

std::int64_t step_of(std::int64_t usage) { return std::clamp(usage / kStepShare, kLeastStep, kMostStep); }

}  // namespace

std::optional<std::int64_t> HighGuard::next(const HighAim& aim, const HighReading& reading, Nanoseconds now,
                                            const GuardSettings& settings) {
  if (!high_ && reading.usage) begin(aim, reading, now);
  if (!high_) return std::nullopt;
  if (*high_ < aim.target) high_ = aim.target;  // a higher target is used immediately, because raising is always safe
  if (reading.usage && is_due(now)) adjust(aim, reading, now, settings);
  if (*high_ == aim.target) arrive(now, settings);
  return *high_ == kNoLimit ? kNoLimit : *high_ / aim.page_size * aim.page_size;
}

void HighGuard::begin(const HighAim& aim, const HighReading& reading, Nanoseconds now) {
  high_ = std::max(aim.target, *reading.usage - step_of(*reading.usage));
  last_ = {now, reading.stalled_us};
}

void HighGuard::adjust(const HighAim& aim, const HighReading& reading, Nanoseconds now, const GuardSettings& settings) {
  const Sample before = std::exchange(last_, {now, reading.stalled_us});
  stalled_percent_.reset();
  if (before.stalled_us && reading.stalled_us && *reading.stalled_us >= *before.stalled_us)
    stalled_percent_ = 100.0 * static_cast<double>(*reading.stalled_us - *before.stalled_us) * 1000 /
                       static_cast<double>((now - before.at).count());

  const std::int64_t usage = *reading.usage;
  const bool is_calm = !stalled_percent_ || *stalled_percent_ < settings.pressure_percent / 2;
  if (!is_calm)
    calm_since_.reset();
  else if (!calm_since_)
    calm_since_ = before.at;
  // Stalls while the usage is far below memory.high have a different cause.
  const bool is_choked =
      stalled_percent_ && *stalled_percent_ > settings.pressure_percent && usage >= *high_ - step_of(usage);
  if (is_choked && *high_ != kNoLimit)
    raise(aim, usage, settings);
  else if (is_calm && now - *calm_since_ >= calm_needed_)
    descend(aim, usage);
}

void HighGuard::raise(const HighAim& aim, std::int64_t usage, const GuardSettings& settings) {
  const std::int64_t room = usage / 10 * (std::int64_t{1} << raises_);
  const std::int64_t base = std::max(*high_, usage);
  const std::int64_t raised = base > kNoLimit - room ? kNoLimit : base + room;
  ++raises_;
  // At the container's limit the kernel reclaims memory instead of throttling, so memory.high has no effect any more.
  const bool is_useless = raises_ > kMostRaises || (aim.limit && raised >= *aim.limit);
  high_ = is_useless ? kNoLimit : raised;
  state_ = is_useless ? State::released : State::raised;
  calm_needed_ = calm_needed_ == 0ns ? Nanoseconds(settings.calm) : std::min(calm_needed_ * 2, kLongestCalm);
  calm_since_.reset();
}

void HighGuard::descend(const HighAim& aim, std::int64_t usage) {
  const std::int64_t lower = std::max(aim.target, usage - step_of(usage));
  if (lower >= *high_) return;
  high_ = lower;
  raises_ = 0;
  state_ = State::descending;
}

// Resets the state after the required time without stalls at its target.
void HighGuard::arrive(Nanoseconds now, const GuardSettings& settings) {
  if (std::exchange(state_, State::at_target) != State::at_target) calm_since_.reset();
  if (!calm_since_ || now - *calm_since_ < std::max(calm_needed_, Nanoseconds(settings.calm))) return;
  calm_needed_ = 0ns;
  raises_ = 0;
}

}  // namespace koord::cgroup_reconcile
