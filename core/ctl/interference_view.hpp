// SPDX-License-Identifier: Apache-2.0
// The agent's verdicts as text: answers of /api/v1/interference and /api/v1/interference/matrix. Pure; an error: the
// answer is no JSON object.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "core/base/result.hpp"

namespace koord::ctl {

// A block of lines for each verdict: felt, caused, not it, method. Without a verdict the reason: nothing is found, or
// nothing judges. `is_wide`: all suspects, and the plugin and number of the verdict.
Result<std::string> render_interference(const std::string& answer, bool is_wide);

// The block of one verdict.
std::string render_verdict(const boost::json::value& record, bool is_wide);

// "cpu 4.2%", "own cpu 8.0%": for a table of pods; empty: the verdict does not stand.
std::string brief_verdict(const boost::json::value& record);

// A table of pairs, the longest wait first.
Result<std::string> render_matrix(const std::string& answer);

}  // namespace koord::ctl
