// SPDX-License-Identifier: Apache-2.0
// Score: how far predictions can be trusted. Each hour the peak predicted then is put down, and what is used until the
// next one is held against it; what it has learnt since does not help it. Pure; a plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/clock.hpp"
#include "core/predict/amounts.hpp"

namespace koord::predict {

// Over the last day. nullopt: nothing to judge by yet.
struct ScoreReport {
  std::uint64_t samples = 0;
  // Share of the samples that were not above what was predicted for them.
  std::optional<double> cpu_coverage, memory_coverage;
  // Predicted peaks by peaks that came, summed over whole hours: 1.2 is a fifth too much.
  std::optional<double> cpu_ratio, memory_ratio;

  bool operator==(const ScoreReport&) const = default;
};

class Score {
 public:
  // An hour that was predicted, and what came.
  struct Hour {
    Time begin;
    Amounts predicted;
    Usage peak;
    std::uint64_t samples = 0, cpu_above = 0, memory_above = 0;

    bool operator==(const Hour&) const = default;
  };

  static constexpr Duration kHorizon = std::chrono::hours(1);
  static constexpr Duration kKept = std::chrono::hours(24);

  // The current usage, and the current prediction; nullopt: nothing to judge. In ascending time.
  void add(Time now, const Usage& actual, const std::optional<Amounts>& predicted);
  ScoreReport report() const;

  // To keep and to have again. An hour that began after `now` is dropped.
  const std::vector<Hour>& hours() const { return hours_; }
  void restore(std::vector<Hour> hours, Time now);
  void move_back(Duration by);

 private:
  std::vector<Hour> hours_;  // the last one may still run
};

}  // namespace koord::predict
