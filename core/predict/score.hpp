// SPDX-License-Identifier: Apache-2.0
// Score: how far predictions can be trusted. Each hour, the predicted peak is recorded and then compared with the usage
// of that hour. The samples that the model learns meanwhile do not change the recorded prediction. Pure; a plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/clock.hpp"
#include "core/predict/amounts.hpp"

namespace koord::predict {

// Results over the last day. nullopt: so far, nothing could be judged.
struct ScoreReport {
  std::uint64_t samples = 0;
  // The share of the samples that were not above the prediction for them.
  std::optional<double> cpu_coverage, memory_coverage;
  // Predicted peaks divided by actual peaks, summed over whole hours. 1.2: the prediction was a fifth too high.
  std::optional<double> cpu_ratio, memory_ratio;

  bool operator==(const ScoreReport&) const = default;
};

class Score {
 public:
  // An hour with its prediction and its actual peak.
  struct Hour {
    Time begin;
    Amounts predicted;
    Usage peak;
    std::uint64_t samples = 0, cpu_above = 0, memory_above = 0;

    bool operator==(const Hour&) const = default;
  };

  static constexpr Duration kHorizon = std::chrono::hours(1);
  static constexpr Duration kKept = std::chrono::hours(24);

  // Adds the current usage and the current prediction; nullopt: no prediction to judge. Times must ascend.
  void add(Time now, const Usage& actual, const std::optional<Amounts>& predicted);
  ScoreReport report() const;

  // Save and restore the hours. An hour that began after `now` is dropped.
  const std::vector<Hour>& hours() const { return hours_; }
  void restore(std::vector<Hour> hours, Time now);
  void move_back(Duration by);

 private:
  std::vector<Hour> hours_;  // the last hour may still be running
};

}  // namespace koord::predict
