// SPDX-License-Identifier: Apache-2.0
// Formats the agent's responses about strategies as tables: /api/v1/decisions, /knobs, /why and /modes. Pure. Fails if
// the response is not a JSON object.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace koord::ctl {

Result<std::string> render_decisions(const std::string& answer);
Result<std::string> render_knobs(const std::string& answer);
Result<std::string> render_why(const std::string& answer);
Result<std::string> render_modes(const std::string& answer);
// Returns "qos-cpu-suppress is in enforce until 2026-01-02 03:04:05".
Result<std::string> render_mode(const std::string& answer);

}  // namespace koord::ctl
