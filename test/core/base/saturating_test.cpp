// SPDX-License-Identifier: Apache-2.0
#include "core/base/saturating.hpp"

#include <doctest/doctest.h>

using koord::saturating_sum;

TEST_CASE("a sum that fits is exact, up to both ends") {
  CHECK(saturating_sum(2, 3) == 5);
  CHECK(saturating_sum(INT64_MAX, INT64_MIN) == -1);
  CHECK(saturating_sum(INT64_MAX - 1, 1) == INT64_MAX);
  CHECK(saturating_sum(INT64_MIN + 1, -1) == INT64_MIN);
}

TEST_CASE("a sum that does not fit stays at the nearest number that does") {
  CHECK(saturating_sum(INT64_MAX, 1) == INT64_MAX);
  CHECK(saturating_sum(1, INT64_MAX) == INT64_MAX);
  CHECK(saturating_sum(INT64_MAX, INT64_MAX) == INT64_MAX);
  CHECK(saturating_sum(INT64_MIN, -1) == INT64_MIN);
  CHECK(saturating_sum(INT64_MIN, INT64_MIN) == INT64_MIN);
}

TEST_CASE("a saturated sum stays where it is when more is added") {
  CHECK(saturating_sum(saturating_sum(INT64_MAX, 1), 1) == INT64_MAX);
}
