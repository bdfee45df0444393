// SPDX-License-Identifier: Apache-2.0
#include "core/base/latency.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace std::chrono_literals;

TEST_CASE("a latency is counted in the first bucket that holds it") {
  Latency latency;
  CHECK(latency.quantile(0.5) == 0);
  for (const Duration each : {Duration(50us), Duration(100us), Duration(3ms), Duration(3s)}) latency.add(each);
  CHECK(latency.count() == 4);
  CHECK(latency.sum_seconds() == doctest::Approx(3.00315));
  CHECK(latency.cumulative(0) == 2);
  CHECK(latency.cumulative(Latency::kBounds.size() - 1) == 3);
  CHECK(latency.quantile(0.5) == 0.0001);
  CHECK(latency.quantile(0.75) == 0.005);
  CHECK(latency.quantile(1) == 1);
}
