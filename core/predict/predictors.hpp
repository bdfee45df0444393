// SPDX-License-Identifier: Apache-2.0
// The part of production pods' requests above their peaks, which could be lent, and those peaks. Pure: models, pods and
// node in, amounts out; formulas in README.md. An error names the subject without a prediction, and the reason. [any
// thread]
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

// pod: from the peak of each pod. priority: from those of system and priority classes. minimum: the smaller of what
// both hold to be reclaimable, the larger of their peaks; this is what is reported.
enum class Predictor : std::uint8_t { pod, priority, minimum };
inline constexpr std::array kPredictors = {Predictor::pod, Predictor::priority, Predictor::minimum};

std::string_view name_of(Predictor predictor);  // "pod", "priority", "minimum"

struct PredictorOptions {
  Duration cold_start{};            // a pod's model that is younger than this is ignored
  std::int64_t margin_percent = 0;  // on top of each peak
};

struct ProdPrediction {
  Amounts reclaimable;
  Amounts peak;
  std::size_t pods = 0;      // of production, not ended
  std::size_t unlearnt = 0;  // of them: nothing was learnt yet
  std::size_t cold = 0;      // of them: learnt for less than the cold start
};

// Production: pods of the class koord-prod or of none.
Result<ProdPrediction> predict_prod(Predictor predictor, const Forecast& forecast, const state::Snapshot& state,
                                    const PredictorOptions& options, Time now);

// A peak: the 95th percentile of CPU, the 98th of memory, and the margin.
Amounts peak_of(const Percentiles& percentiles, std::int64_t margin_percent);

// Returns the resources that pods may request: the node's annotation node.koordinator.sh/raw-allocatable, completed
// from allocatable.
Result<Amounts> allocatable_of(const state::Node& node);

}  // namespace koord::predict
