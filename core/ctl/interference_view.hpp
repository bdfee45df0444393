// SPDX-License-Identifier: Apache-2.0
// Formats the agent's verdicts as text, from responses of /api/v1/interference and /api/v1/interference/matrix. Pure.
// Fails if the response is not a JSON object.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "core/base/result.hpp"

namespace koord::ctl {

// Returns a block of lines for each verdict: felt, caused, not it, method. If there is no verdict, returns the reason:
// nothing was found, or no plugin judges. `is_wide`: show all suspects, and the plugin and number of the verdict.
Result<std::string> render_interference(const std::string& answer, bool is_wide);

// Returns the block of one verdict.
std::string render_verdict(const boost::json::value& record, bool is_wide);

// Returns "cpu 4.2%" or "own cpu 8.0%" for a table of pods; "" if the verdict does not stand.
std::string brief_verdict(const boost::json::value& record);

// Returns a table of pairs, the longest wait first.
Result<std::string> render_matrix(const std::string& answer);

}  // namespace koord::ctl
