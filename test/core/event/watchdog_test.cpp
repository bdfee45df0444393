// SPDX-License-Identifier: Apache-2.0
#include "core/event/watchdog.hpp"

#include <doctest/doctest.h>

#include <future>
#include <vector>

using koord::event::Watchdog;
using namespace std::chrono_literals;

namespace {

// Waits with a time limit, because without it the test would hang if the alarm is lost.
bool is_called(std::promise<void>& alarm) { return alarm.get_future().wait_for(20s) == std::future_status::ready; }

}  // namespace

TEST_CASE("a watchdog calls an alarm that is due") {
  Watchdog watchdog;
  std::promise<void> called;
  watchdog.arm(Watchdog::Clock::now(), [&] { called.set_value(); });
  CHECK(is_called(called));
}

TEST_CASE("a watchdog that sleeps for a late alarm wakes for an earlier one") {
  Watchdog watchdog;
  std::promise<void> called;
  watchdog.arm(Watchdog::Clock::now() + 1h, [] { FAIL("an hour has not passed"); });
  watchdog.arm(Watchdog::Clock::now() + 1ms, [&] { called.set_value(); });
  CHECK(is_called(called));
}

TEST_CASE("alarms are called in the order they are due, not armed") {
  Watchdog watchdog;
  std::vector<int> order;
  std::promise<void> last;
  const auto now = Watchdog::Clock::now();
  watchdog.arm(now + 12ms, [&] {
    order.push_back(2);
    last.set_value();
  });
  watchdog.arm(now + 10ms, [&] { order.push_back(1); });
  REQUIRE(is_called(last));
  CHECK(order == std::vector{1, 2});
}

TEST_CASE("a disarmed alarm is not called") {
  Watchdog watchdog;
  std::promise<void> later;
  const auto now = Watchdog::Clock::now();
  const auto id = watchdog.arm(now + 1h, [] { FAIL("it was disarmed"); });
  watchdog.disarm(id);
  watchdog.arm(now + 1ms, [&] { later.set_value(); });
  CHECK(is_called(later));
}

TEST_CASE("an alarm may arm the next one") {
  Watchdog watchdog;
  std::promise<void> second;
  watchdog.arm(Watchdog::Clock::now(), [&] { watchdog.arm(Watchdog::Clock::now(), [&] { second.set_value(); }); });
  CHECK(is_called(second));
}

TEST_CASE("a stopped watchdog drops its alarms and accepts none") {
  Watchdog watchdog;
  auto held = std::make_shared<int>(1);
  watchdog.arm(Watchdog::Clock::now() + 1h, [held] {});
  watchdog.stop();
  watchdog.arm(Watchdog::Clock::now(), [held] { FAIL("it was stopped"); });
  CHECK(held.use_count() == 1);
}
