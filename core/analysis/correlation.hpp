// SPDX-License-Identifier: Apache-2.0
// Correlation of two series. Pure. [any thread]
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace koord::analysis {

// Pearson's r of two series of the same length, over the places where both are known (not NaN). nullopt: there
// are fewer of these than `fewest`, or one of the series does not change.
std::optional<double> correlation(std::span<const float> a, std::span<const float> b, std::size_t fewest);

}  // namespace koord::analysis
