// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/host/restart_policy.hpp"
#include "core/host/schedule.hpp"
#include "core/host/supervisor.hpp"

using namespace koord;
using namespace koord::host;
using namespace std::chrono_literals;

namespace {

const Time kStart = from_ns(1'700'000'000'000'000'000);

}  // namespace

TEST_CASE("each failure is answered with twice the delay of the one before") {
  RestartPolicy policy;
  CHECK(policy.failed(kStart) == 500ms);
  CHECK(policy.failed(kStart + 10s) == 1s);
  CHECK(policy.failed(kStart + 20s) == 2s);
}

TEST_CASE("the fifth failure in ten minutes is the last") {
  RestartPolicy policy;
  for (int i = 0; i < 4; ++i) CHECK(policy.failed(kStart + i * 1min));
  CHECK_FALSE(policy.failed(kStart + 9min));
}

TEST_CASE("failures older than ten minutes are forgotten") {
  RestartPolicy policy;
  for (int i = 0; i < 4; ++i) policy.failed(kStart + i * 1min);
  CHECK(policy.failed(kStart + 20min) == 500ms);
}

TEST_CASE("ticks fall on multiples of the period, shifted by the phase") {
  Duration delay = delay_to_tick(kStart + 300ms, 1s, 50ms);
  CHECK((kStart + 300ms + delay).time_since_epoch() % 1s == 50ms);
}

TEST_CASE("the next tick is at least half a period and at most one and a half away") {
  for (Duration now = 0ms; now < 1s; now += 37ms) {
    Duration delay = delay_to_tick(kStart + now, 1s, 50ms);
    CHECK(delay >= 500ms);
    CHECK(delay <= 1500ms);
  }
}

TEST_CASE("plugins of one period tick one after the other, all within a tenth of it") {
  for (unsigned nth = 0; nth < 20; ++nth) {
    CHECK(tick_phase(1s, nth) < 100ms);
    CHECK(tick_phase(1min, nth) < 1s);
    for (unsigned other = 0; other < nth; ++other) CHECK(tick_phase(1s, nth) != tick_phase(1s, other));
  }
}

TEST_CASE("a call is given up after several deadlines, but not within ten seconds") {
  CHECK(wedged_after(100ms) == 10'100ms);
  CHECK(wedged_after(2s) == 20s);
  CHECK(wedged_after(10min) == 11min);
}
