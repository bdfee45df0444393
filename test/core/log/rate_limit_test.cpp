// SPDX-License-Identifier: Apache-2.0
#include "core/log/rate_limit.hpp"

#include <doctest/doctest.h>

#include "core/base/manual_clock.hpp"
#include "core/log/capture.hpp"

using namespace koord;
using namespace std::chrono_literals;

namespace {

constexpr log::Category test_log{"test"};

}  // namespace

TEST_CASE("a rate limit passes the first lines of a period and leaves out the rest") {
  ManualClock clock;
  log::RateLimit limit(2, 1min);
  CHECK(limit.admit(clock.now()) == 0u);
  CHECK(limit.admit(clock.now()) == 0u);
  CHECK_FALSE(limit.admit(clock.now()));
  clock.advance(59s);
  CHECK_FALSE(limit.admit(clock.now()));
}

TEST_CASE("a rate limit reports once how many lines it left out") {
  ManualClock clock;
  log::RateLimit limit(1, 1min);
  for (int i = 0; i < 4; ++i) (void)limit.admit(clock.now());
  clock.advance(1min);
  CHECK(limit.admit(clock.now()) == 3u);
  clock.advance(1min);
  CHECK(limit.admit(clock.now()) == 0u);
}

TEST_CASE("the first line of the next period says how many were left out") {
  ManualClock clock;
  log::Capture capture;
  log::RateLimit limit(1, 1min);
  for (int i = 0; i < 3; ++i) limit.write(clock.now(), test_log, log::Level::warn, "it failed");
  clock.advance(1min);
  limit.write(clock.now(), test_log, log::Level::warn, "it failed");
  REQUIRE(capture.lines().size() == 2);
  CHECK(capture.lines()[0].ends_with("it failed"));
  CHECK(capture.lines()[1].ends_with("it failed (2 more like this left out)"));
}

TEST_CASE("a line below the level does not use up the limit") {
  ManualClock clock;
  log::Capture capture(log::Level::warn);
  log::RateLimit limit(1, 1min);
  limit.write(clock.now(), test_log, log::Level::debug, "quiet");
  limit.write(clock.now(), test_log, log::Level::warn, "loud");
  CHECK(capture.contains("loud"));
}
