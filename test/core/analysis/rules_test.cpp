// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>

#include "core/analysis/rules.hpp"

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

std::string problem(const Rules& rules) {
  const auto checked = check(rules);
  return checked ? "" : checked.error().message();
}

}  // namespace

TEST_CASE("the defaults are within their bounds") { CHECK(problem({}).empty()); }

TEST_CASE("a value out of its bounds is named in the unit of its setting") {
  Rules rules;
  rules.cpu.held_up = 11;
  CHECK(problem(rules) == "heldUpMsPerSecond is 11000, expected 0.1 to 10000");
  rules = {};
  rules.cpu.lost_throughput = 0;
  CHECK(problem(rules) == "lostThroughputPercent is 0, expected 0.1 to 100");
  rules = {};
  rules.cpu.over_quiet = std::numeric_limits<double>::quiet_NaN();
  CHECK(problem(rules) == "overQuiet is nan, expected 1 to 100");
  rules = {};
  rules.confirmation.clear = 2h;
  CHECK(problem(rules) == "clearAfter is 2h, expected 1s to 1h");
  rules = {};
  rules.baseline.windows = 0;
  CHECK(problem(rules) == "quietWindows is 0, expected 1 to 86400");
}

TEST_CASE("a verdict cannot need more windows with a finding than there are windows") {
  Rules rules;
  rules.confirmation.windows = 2;
  CHECK(problem(rules) == "windowsWithFinding is 3, expected at most windows, 2");
}
