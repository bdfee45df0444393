// SPDX-License-Identifier: Apache-2.0
#include "core/report/usage.hpp"

#include <cmath>

namespace koord::report {
namespace {

// Compensates for binary fractions: 0.29 times 100 is 28.999999999999996. Samples of CPU are whole ten-thousandths. So
// a mean of less than 100,000 samples is either a whole number of thousandths, or its distance to the next whole number
// is greater than this.
constexpr double kBinaryFraction = 1e-6;

}  // namespace

std::int64_t milli_of(double cores) { return static_cast<std::int64_t>(std::floor(cores * 1000 + kBinaryFraction)); }

// Samples of memory are multiples of a power of two, so whole means are exact.
std::int64_t whole_of(double value) { return static_cast<std::int64_t>(std::floor(value)); }

}  // namespace koord::report
