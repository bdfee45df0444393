// SPDX-License-Identifier: Apache-2.0
// What could be lent of what production pods have asked for and do not use at their peaks, and those peaks. Pure: what was
// learnt, the pods and the node in, amounts out; formulas in README.md. An error says what there is no prediction for,
// and why. [any thread]
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

// pod: from the peak of each pod. priority: from those of system and priority classes. minimum: the smaller of what both
// hold to be reclaimable, the larger of their peaks; this is what is reported.
enum class Predictor : std::uint8_t { pod, priority, minimum };
inline constexpr std::array kPredictors = {Predictor::pod, Predictor::priority, Predictor::minimum};

std::string_view name_of(Predictor predictor);  // "pod", "priority", "minimum"

struct PredictorOptions {
  Duration cold_start{};              // what was learnt of a pod for less than this is not relied on
  std::int64_t margin_percent = 0;    // on top of each peak
};

struct ProdPrediction {
  Amounts reclaimable;
  Amounts peak;
  std::size_t pods = 0;       // of production, not ended
  std::size_t unlearnt = 0;   // of them: nothing was learnt yet
  std::size_t cold = 0;       // of them: learnt for less than the cold start
};

// Production: pods of the class koord-prod or of none.
Result<ProdPrediction> predict_prod(Predictor predictor, const Forecast& forecast, const state::Snapshot& state,
                                    const PredictorOptions& options, Time now);

// A peak: the 95th percentile of CPU, the 98th of memory, and the margin.
Amounts peak_of(const Percentiles& percentiles, std::int64_t margin_percent);

// What pods may ask for: the node's annotation node.koordinator.sh/raw-allocatable, what that does not say from allocatable.
Result<Amounts> allocatable_of(const state::Node& node);

}  // namespace koord::predict
