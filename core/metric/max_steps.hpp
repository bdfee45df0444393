// SPDX-License-Identifier: Apache-2.0
// The largest value that the registry takes, in steps of the metric's resolution.
#pragma once

namespace koord::metric {

inline constexpr double kMaxSteps = 4611686018427387904.0;  // 2^62

}  // namespace koord::metric
