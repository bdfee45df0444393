// SPDX-License-Identifier: Apache-2.0
// Figures of verdicts in words, the same for koordctl and for Events. Pure. [any thread]
#pragma once

#include <string>
#include <string_view>

#include "core/verdict/record.hpp"

namespace koord::verdict {

// "4.2", "38", "0.04": one or two figures are enough for a share or a rate.
std::string figures(double value);
std::string percent(double share);  // "4.2 %" of 0.042

// In the unit that the plugin names: "4.2 %" of a ratio, "38 ms/s" of seconds/second, "0.4 ms" of seconds; else the
// number and the unit. "unknown" of kUnknown.
std::string amount(double value, std::string_view unit);

// Is it the time that a request finds the container held up? It is more than 1 while several threads wait.
bool is_share_of_time(const Statistic& statistic);

// The harm in words: "a request finds the container held up for > 1 ms during 4.2 % of the time (quiet 0.3 %, limit
// 1.0 %)". A statistic that is not one of the agent's own is shown by its name. Unknown bounds are left out.
std::string felt(const Statistic& statistic);

}  // namespace koord::verdict
