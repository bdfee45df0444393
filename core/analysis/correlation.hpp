// SPDX-License-Identifier: Apache-2.0
// Correlation of two series. Pure. [any thread]
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace koord::analysis {

// Returns Pearson's r of two series of the same length, over the indexes where both are known (not NaN). Returns
// nullopt if fewer than `fewest` indexes remain, or one of the series is constant.
std::optional<double> correlation(std::span<const float> a, std::span<const float> b, std::size_t fewest);

}  // namespace koord::analysis
