// SPDX-License-Identifier: Apache-2.0
#include "core/base/counter_rate.hpp"

#include <doctest/doctest.h>

using koord::CounterRate;

TEST_CASE("the first reading of a counter gives no rate") { CHECK_FALSE(CounterRate(1000).update({5, 10})); }

TEST_CASE("a rate is growth over elapsed time") {
  CounterRate rate(1000);
  rate.update({100, 1000});
  CHECK(rate.update({150, 1100}) == 0.5);
  CHECK(rate.update({150, 1200}) == 0.0);
}

TEST_CASE("a counter that decreased was reset and has no rate until the next reading") {
  CounterRate rate(1000);
  rate.update({100, 1000});
  CHECK_FALSE(rate.update({10, 1100}));
  CHECK(rate.update({20, 1200}) == 0.1);
}

TEST_CASE("a gap or a clock that did not advance gives no rate") {
  CounterRate rate(1000);
  rate.update({100, 1000});
  CHECK_FALSE(rate.update({200, 2001}));
  CHECK_FALSE(rate.update({300, 2001}));
}
