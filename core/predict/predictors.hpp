// SPDX-License-Identifier: Apache-2.0
// Computes the part of production pods' requests above their peaks, which could be lent, and these peaks. Pure:
// computes amounts from models, pods and node; the formulas are in README.md. An error names the subject without a
// prediction, and the reason. [any thread]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/predict/amounts.hpp"
#include "core/predict/forecast.hpp"
#include "core/state/snapshot.hpp"

namespace koord::predict {

// pod: from the peak of each pod. priority: from the peaks of system and priority classes. minimum: the smaller of the
// two reclaimable amounts, and the larger of the two peaks; this one is reported.
enum class Predictor : std::uint8_t { pod, priority, minimum };
inline constexpr std::array kPredictors = {Predictor::pod, Predictor::priority, Predictor::minimum};

std::string_view name_of(Predictor predictor);  // "pod", "priority", "minimum"

struct PredictorOptions {
  Duration cold_start{};            // a younger model of a pod is ignored
  std::int64_t margin_percent = 0;  // added to each peak
};

struct ProdPrediction {
  Amounts reclaimable;
  Amounts peak;
  std::size_t pods = 0;      // production pods that are not ending
  std::size_t unlearnt = 0;  // number of these pods about which nothing was learnt so far
  std::size_t cold = 0;      // number of these pods that were learnt for less than the cold start
};

// Predicts for production: pods of the class koord-prod or of no class.
Result<ProdPrediction> predict_prod(Predictor predictor, const Forecast& forecast, const state::Snapshot& state,
                                    const PredictorOptions& options, Time now);

// Returns the peak: the 95th percentile of CPU and the 98th of memory, plus the margin.
Amounts peak_of(const Percentiles& percentiles, std::int64_t margin_percent);

// Returns the resources that pods may request: the node's annotation node.koordinator.sh/raw-allocatable, completed
// from allocatable.
Result<Amounts> allocatable_of(const state::Node& node);

}  // namespace koord::predict
