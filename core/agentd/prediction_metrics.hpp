// SPDX-License-Identifier: Apache-2.0
// What is predicted and how far it can be trusted, as families koordetector_predict_*: made when /metrics is asked for.
// What is not known is not there. [any thread]
#pragma once

#include <string>
#include <string_view>

#include "core/predict/prediction.hpp"

namespace koord::agentd {

void write_prediction_metrics(std::string& out, const predict::Prediction& prediction, std::string_view node);

}  // namespace koord::agentd
