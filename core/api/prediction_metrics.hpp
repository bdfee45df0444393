// SPDX-License-Identifier: Apache-2.0
// Predictions and their accuracy as metric families koordetector_predict_*, computed for each request of /metrics.
// Unknown values are omitted. [any thread]
#pragma once

#include <string>
#include <string_view>

#include "core/predict/prediction.hpp"

namespace koord::api {

void write_prediction_metrics(std::string& out, const predict::Prediction& prediction, std::string_view node);

}  // namespace koord::api
