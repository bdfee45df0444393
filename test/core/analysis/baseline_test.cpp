// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/analysis/baseline.hpp"

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

const Time kBegin(1'000'000s);

void add(Baseline& baseline, int n, double held_up, int first = 0) {
  for (int i = 0; i < n; ++i) baseline.add(kBegin + (first + i) * 1s, held_up);
}

}  // namespace

TEST_CASE("a workload is unknown for its first minute") {
  Baseline baseline;
  add(baseline, 59, 0.005);
  CHECK(baseline.quiet() == 0);
  add(baseline, 1, 0.005, 59);
  CHECK(baseline.quiet() == doctest::Approx(0.005).epsilon(0.06));
}

TEST_CASE("interference does not move the quiet level as long as a tenth of the time is quiet") {
  Baseline baseline;
  add(baseline, 500, 0.004);
  add(baseline, 3000, 0.3, 500);
  CHECK(baseline.quiet() == doctest::Approx(0.004).epsilon(0.06));
}

TEST_CASE("a workload that is never held up has the quiet level 0") {
  Baseline baseline;
  add(baseline, 100, 0);
  CHECK(baseline.quiet() == 0);
}
