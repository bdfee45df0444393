// SPDX-License-Identifier: Apache-2.0
// SyntheticNode: containers with counters of known causes, in windows of 5 s. A seed determines all values. Each
// container has its own CPI (cycles per instruction) with noise and a slow drift, and its own pattern of CPU use:
// steady, a wave, or bursts. A container can slow down a different container by its usage, can have phases of its own,
// and can share the load of a different container.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "core/analysis/cache_analysis.hpp"

namespace koord::analysis {

// Random values that are the same on each platform, unlike the distributions of the standard library.
class SeededValues {
 public:
  explicit SeededValues(std::uint64_t seed) : random_(seed) {}

  double between(double least, double most) {
    return least + (most - least) * static_cast<double>(random_() >> 11) * 0x1p-53;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - between(0, 1)));
    return radius * std::cos(between(0, 2 * std::numbers::pi));
  }
  double exponential(double mean) { return -mean * std::log(1 - between(0, 1)); }

 private:
  std::mt19937_64 random_;
};

enum class Pattern { steady, wave, bursts };

struct SyntheticContainer {
  Pattern pattern = Pattern::steady;
  double cpi = 1, noise = 0.05, level = 1;        // usual CPI, its noise, CPUs used when busy
  double period = 600, phase = 0;                 // only for a wave: seconds and radians
  double busy_seconds = 120, idle_seconds = 120;  // only for bursts: averages
  double misses = 1e6;                            // misses per second of CPU
  double begins = 0;                              // seconds; idle before
  // Windows in which the CPI is higher for the container's own reason.
  double own_phase = 0, phase_begins = 0, phase_ends = 0;
  // In this time, in seconds, the container's load is `surge` times the usual load, and so is the load of the container
  // at this index.
  double surge = 1, surge_begins = 0, surge_ends = 0;
  // The index of a container that this container slows down, and by how much when this container is busy.
  int victim = -1;
  double slow_down = 0;
};

class SyntheticNode {
 public:
  explicit SyntheticNode(std::uint64_t seed) : values_(seed) {}

  SeededValues& values() { return values_; }
  // Adds a container. Subjects are numbered from 1.
  std::size_t add(const SyntheticContainer& container) {
    states_.push_back({container, 0, container.pattern == Pattern::bursts ? 0.0 : 1e300, false});
    return states_.size() - 1;
  }
  // Returns a container with random values of the usual range.
  SyntheticContainer any() {
    SyntheticContainer one;
    one.pattern = static_cast<Pattern>(static_cast<int>(values_.between(0, 3)));
    one.cpi = values_.between(0.7, 2.5);
    one.noise = values_.between(0.03, 0.08);
    one.level = values_.between(0.5, 2);
    one.period = values_.between(300, 1800);
    one.phase = values_.between(0, 6);
    one.busy_seconds = values_.between(60, 180);
    one.idle_seconds = values_.between(60, 180);
    one.misses = values_.between(1e5, 1e7);
    return one;
  }

  double seconds() const { return seconds_; }

  std::vector<CacheSubject> next() {
    seconds_ += 5;
    std::vector<double> usage;
    for (State& state : states_) usage.push_back(usage_of(state));
    std::vector<CacheSubject> subjects;
    for (std::size_t i = 0; i < states_.size(); ++i) subjects.push_back({name_of(i), window_of(i, usage)});
    return subjects;
  }

 private:
  struct State {
    SyntheticContainer container;
    double drift = 0, changes = 0;  // `changes`, only for bursts: the time when the next burst begins or ends
    bool is_busy = false;
  };

  static std::string name_of(std::size_t i) { return "w" + std::to_string(i); }
  static bool is_within(double at, double begin, double end) { return at >= begin && at < end; }

  double usage_of(State& state) {
    constexpr double kIdle = 0.03;
    const SyntheticContainer& one = state.container;
    while (state.changes <= seconds_) {
      state.is_busy = !state.is_busy;
      state.changes += values_.exponential(state.is_busy ? one.busy_seconds : one.idle_seconds);
    }
    double load = 1 + 0.1 * values_.normal();
    if (one.pattern == Pattern::wave)
      load = 1 + 0.5 * std::sin(2 * std::numbers::pi * seconds_ / one.period + one.phase) + 0.05 * values_.normal();
    if (is_within(seconds_, one.surge_begins, one.surge_ends)) load *= one.surge;
    const bool is_idle = seconds_ < one.begins || (one.pattern == Pattern::bursts && !state.is_busy);
    return is_idle ? kIdle : std::max(kIdle, one.level * load);
  }

  CacheWindow window_of(std::size_t i, const std::vector<double>& usage) {
    constexpr double kHertz = 3e9;
    State& state = states_[i];
    const SyntheticContainer& one = state.container;
    state.drift = 0.9 * state.drift + 0.01 * values_.normal();
    double slow = 1;
    for (std::size_t j = 0; j < states_.size(); ++j) {
      const SyntheticContainer& other = states_[j].container;
      if (other.victim == static_cast<int>(i)) slow += other.slow_down * usage[j] / other.level;
    }
    if (is_within(seconds_, one.phase_begins, one.phase_ends)) slow += one.own_phase;
    CacheWindow window{.subject = i + 1, .is_counted = true, .usage = usage[i], .cycles = usage[i] * kHertz};
    const double cpi = one.cpi * (1 + state.drift) * std::exp(one.noise * values_.normal()) * slow;
    window.instructions = window.cycles / cpi;
    window.llc_misses = usage[i] * one.misses * std::max(0.0, 1 + 0.15 * values_.normal());
    return window;
  }

  SeededValues values_;
  double seconds_ = 0;
  std::vector<State> states_;
};

}  // namespace koord::analysis
