// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/analysis/verdict.hpp"

namespace koord::interference {

// Returns the figure of a verdict about block I/O, memory or caches in words: "reads take 1.2 ms (quiet 0.3 ms, limit
// 0.8 ms)". Empty: it is of another resource. Pure. [any thread]
std::string figure_of_resource(const analysis::Statistic& statistic);

}  // namespace koord::interference
