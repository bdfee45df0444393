// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/analysis/verdict.hpp"

namespace koord::interference {

// Returns the statistic of a verdict about block I/O, memory or caches as a text: "reads take 1.2 ms (quiet 0.3 ms,
// limit 0.8 ms)". Returns "" for other resources. Pure. [any thread]
std::string figure_of_resource(const analysis::Statistic& statistic);

}  // namespace koord::interference
