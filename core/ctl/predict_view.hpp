// SPDX-License-Identifier: Apache-2.0
// Formats the output of `koordctl predict`: a table of predictions with their accuracy, and a table of resources that
// could be lent.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace koord::ctl {

// Formats the agent's response to /api/v1/predictions.
Result<std::string> render_predictions(const std::string& answer);

}  // namespace koord::ctl
