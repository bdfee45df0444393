// SPDX-License-Identifier: Apache-2.0
// Formats the agent's response to /api/v1/report as tables. Pure.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace koord::ctl {

Result<std::string> render_report(const std::string& answer);

}  // namespace koord::ctl
