// SPDX-License-Identifier: Apache-2.0
// What `koordctl predict` prints: a table of what was learnt, with how it came true, and one of what could be lent.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace koord::ctl {

// Of the agent's answer to /api/v1/predictions.
Result<std::string> render_predictions(const std::string& answer);

}  // namespace koord::ctl
