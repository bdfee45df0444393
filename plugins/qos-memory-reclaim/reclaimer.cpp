// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-memory-reclaim/reclaimer.hpp"

#include <algorithm>

namespace koord::memory_reclaim {
namespace {

using namespace std::chrono_literals;

constexpr double kMostRate = 0.01, kSpeedUp = 1.25;
constexpr std::int64_t kLeastStep = 1 << 20, kMostStep = 32 << 20;
constexpr std::int64_t kColdShare = 8;  // divisor: maximum part of cold memory to reclaim in one step
constexpr std::chrono::nanoseconds kFirstPause = 1min, kLongestPause = 1h;

}  // namespace

std::int64_t Reclaimer::want(const Reading& reading, Nanoseconds now, const Settings& settings) {
  if (!reading.page_cache || !reading.stalled_us) {
    state_ = State::unknown;
    last_.reset();
    return 0;
  }
  const Sample sample{now, *reading.stalled_us, reading.refaulted.value_or(0)};
  const bool continues =
      last_ && now > last_->at && sample.stalled_us >= last_->stalled_us && sample.refaulted >= last_->refaulted;
  if (!continues) {
    state_ = State::learning;
    last_ = sample;
    asked_ = 0;
    return 0;
  }
  stalled_percent_ = 100.0 * 1000 * static_cast<double>(sample.stalled_us - last_->stalled_us) /
                     static_cast<double>((now - last_->at).count());
  refaulted_ = sample.refaulted - last_->refaulted;
  last_ = sample;

  if (cost_too_much(settings)) back_off(now);
  if (now < resumes_at_) {
    state_ = State::backing_off;
    asked_ = 0;
    return 0;
  }
  speed_up(now, settings);
  const double slowed = std::max(0.0, 1 - stalled_percent_ / settings.pressure_percent);
  std::int64_t step = static_cast<std::int64_t>(static_cast<double>(*reading.page_cache) * rate_ * slowed);
  if (reading.cold) step = std::min(std::max(step, *reading.cold / kColdShare), *reading.cold);
  step = std::min({step, kMostStep, *reading.page_cache});
  asked_ = 0;
  given_.reset();
  state_ = step < kLeastStep ? State::nothing_left : State::reclaiming;
  return state_ == State::reclaiming ? step : 0;
}

void Reclaimer::given(std::optional<std::int64_t> bytes) { given_ = bytes; }

// Returns whether the last step had too high a cost. Stalls count whatever their cause, because a pod that lacks memory
// must not get less. Refaults are compared with the reclaimed bytes, but at least with the smallest step.
bool Reclaimer::cost_too_much(const Settings& settings) const {
  if (stalled_percent_ > settings.pressure_percent) return true;
  if (asked_ > 0 && given_ && *given_ < asked_ / 2) return true;  // the kernel reclaimed little, so the rest is in use
  const double taken = static_cast<double>(std::max(given_.value_or(0), kLeastStep));
  return 100 * static_cast<double>(refaulted_) > settings.refault_percent * taken && refaulted_ >= kLeastStep;
}

void Reclaimer::back_off(Nanoseconds now) {
  if (now >= resumes_at_) pause_ = pause_ == 0ns ? kFirstPause : std::min(pause_ * 2, kLongestPause);
  resumes_at_ = now + pause_;
  rate_ = kLeastRate;
}

void Reclaimer::speed_up(Nanoseconds now, const Settings& settings) {
  const bool was_free = asked_ > 0 && given_ && stalled_percent_ < settings.pressure_percent / 2;
  if (was_free) rate_ = std::min(rate_ * kSpeedUp, kMostRate);
  if (pause_ > 0ns && now - resumes_at_ > 2 * pause_) pause_ = 0ns;  // no problem for twice the pause
}

}  // namespace koord::memory_reclaim
