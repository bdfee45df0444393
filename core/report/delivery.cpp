// SPDX-License-Identifier: Apache-2.0
#include "core/report/delivery.hpp"

#include <algorithm>

namespace koord::report {
namespace {

constexpr double kEarly = 1.0 / 30;  // part of a heartbeat: spreads nodes that began at the same time

Duration part(Duration whole, double share) {
  return Duration(static_cast<Duration::rep>(static_cast<double>(whole.count()) * share));
}

}  // namespace

// Returns a random number (splitmix64: one word of state, any seed is good).
double Delivery::draw() {
  random_ += 0x9e3779b97f4a7c15u;
  std::uint64_t word = random_;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((word ^ (word >> 31)) >> 11) * 0x1.0p-53;
}

void Delivery::begin(Time now, std::optional<Duration> age) {
  begun_ = true;
  has_last_ = age.has_value();
  last_ = now - std::max(age.value_or(Duration::zero()), Duration::zero());
  early_ = draw();
  late_ = draw();
  const bool overdue = !has_last_ || next_heartbeat() <= now;
  not_before_ = now + part(kCatchUp, overdue ? draw() : 1 + draw());
}

Time Delivery::next_change() const {
  if (!has_last_) return not_before_;
  return std::max(not_before_, last_ + part(std::max(options_.interval, kLeastGap), 1 + 0.1 * early_));
}

Time Delivery::next_heartbeat() const {
  if (!has_last_) return not_before_;
  if (options_.interval > options_.heartbeat) return next_change();
  return std::max(not_before_, last_ + part(options_.heartbeat, 1 - kEarly * late_));
}

bool Delivery::due(Time now, double change) const {
  return begun_ && (now >= next_heartbeat() || (change > options_.change_percent && now >= next_change()));
}

void Delivery::accepted(Time now) {
  has_last_ = true;
  last_ = now;
  failures_ = 0;
  early_ = draw();
  late_ = draw();
  not_before_ = now + kLeastGap;
}

void Delivery::refused(Time now, std::optional<Duration> retry_after) {
  const Duration most = std::min(kMostBackOff, kLeastGap * (1 << std::min(failures_, 6u)));
  ++failures_;
  // Half of the wait is fixed, to reduce the load of an unavailable server. The other half is random, so that nodes do
  // not all retry at the same time.
  not_before_ = now + std::max(kLeastGap, part(most, 0.5 + 0.5 * draw()));
  if (retry_after) not_before_ = std::max(not_before_, now + *retry_after + part(kLeastGap, draw()));
}

}  // namespace koord::report
