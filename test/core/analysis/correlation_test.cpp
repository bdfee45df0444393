// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/correlation.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace koord::analysis;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
using Values = std::vector<float>;

}  // namespace

TEST_CASE("series that rise together have the correlation 1, opposite ones -1, others between") {
  CHECK(*correlation(Values{1, 2, 3, 4}, Values{10, 20, 30, 40}, 2) == doctest::Approx(1));
  CHECK(*correlation(Values{1, 2, 3, 4}, Values{4, 3, 2, 1}, 2) == doctest::Approx(-1));
  CHECK(*correlation(Values{1, 2, 3, 4, 5}, Values{2, 1, 4, 3, 5}, 2) == doctest::Approx(0.8));
  CHECK(*correlation(Values{1, 2, 1, 2}, Values{1, 1, 2, 2}, 2) == doctest::Approx(0));
}

TEST_CASE("places where one of the two is unknown do not count") {
  CHECK(*correlation(Values{1, kNan, 2, 3, 100}, Values{10, 7, 20, 30, kNan}, 3) == doctest::Approx(1));
  CHECK_FALSE(correlation(Values{1, kNan, 2, 3}, Values{10, 7, 20, kNan}, 3));
}

TEST_CASE("a series that does not change has no correlation, and neither has an empty one") {
  CHECK_FALSE(correlation(Values{1, 2, 3}, Values{5, 5, 5}, 2));
  CHECK_FALSE(correlation(Values{0, 0, 0}, Values{1, 2, 3}, 2));
  CHECK_FALSE(correlation(Values{1.7F, 1.7F, 1.7000001F}, Values{1, 2, 3}, 2));
  CHECK_FALSE(correlation(Values{}, Values{}, 0));
}

TEST_CASE("large values that differ little are correlated as they are") {
  CHECK(*correlation(Values{1e9F, 1.001e9F, 1.002e9F}, Values{1, 2, 3}, 2) == doctest::Approx(1).epsilon(0.001));
}
