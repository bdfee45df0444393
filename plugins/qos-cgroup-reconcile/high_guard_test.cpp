// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cgroup-reconcile/high_guard.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace koord::cgroup_reconcile;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kMi = 1 << 20, kGi = 1 << 30;
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// A guard with its own clock. Each call advances ten seconds, the period of its steps.
struct Guarded {
  HighGuard guard;
  std::chrono::nanoseconds now{0};
  std::int64_t stalled_us = 0;
  HighAim aim{.target = 800 * kMi};

  // `pressure`: percentage of the time since the last call in which tasks stalled.
  std::optional<std::int64_t> next(std::optional<std::int64_t> usage, std::optional<double> pressure,
                                   std::chrono::nanoseconds after = 10s) {
    now += after;
    stalled_us += static_cast<std::int64_t>(pressure.value_or(0) / 100 * static_cast<double>(after.count()) / 1000);
    return guard.next(aim, {usage, pressure ? std::optional(stalled_us) : std::nullopt}, now, {});
  }
};

}  // namespace

TEST_CASE("a container below its target gets its target at once") {
  Guarded container;
  CHECK(container.next(500 * kMi, 0) == 800 * kMi);
  CHECK(container.guard.state() == HighGuard::State::at_target);
}

TEST_CASE("while its usage is unknown a container gets no memory.high, or keeps its present one") {
  Guarded container;
  CHECK(container.next(std::nullopt, 0) == std::nullopt);
  container.next(500 * kMi, 0);
  CHECK(container.next(std::nullopt, std::nullopt) == 800 * kMi);
}

TEST_CASE("memory.high is at most a twentieth of the usage below the usage") {
  Guarded container;
  CHECK(container.next(1000 * kMi, 0) == 950 * kMi);
  CHECK(container.next(950 * kMi, 0) == 950 * kMi * 19 / 20 / 4096 * 4096);
  CHECK(container.guard.state() == HighGuard::State::descending);
}

TEST_CASE("with a large usage the distance is at most 256 MiB") {
  Guarded container;
  CHECK(container.next(64 * kGi, 0) == 64 * kGi - 256 * kMi);
}

TEST_CASE("it takes a step each ten seconds, not at each call") {
  Guarded container;
  container.next(1000 * kMi, 0);
  CHECK(container.next(900 * kMi, 0, 1s) == 950 * kMi);
  CHECK(container.next(900 * kMi, 0, 9s) == 855 * kMi);
}

TEST_CASE("usage that grows beyond memory.high does not raise it, because limiting is its purpose") {
  Guarded container;
  container.next(700 * kMi, 0);
  CHECK(container.next(820 * kMi, 5) == 800 * kMi);
}

TEST_CASE("stalls at memory.high raise it, by increasing amounts") {
  Guarded container;
  container.next(800 * kMi, 0);
  CHECK(container.next(800 * kMi, 30) == 880 * kMi);
  CHECK(container.guard.state() == HighGuard::State::raised);
  CHECK(container.next(880 * kMi, 30) == (880 + 176) * kMi);
}

TEST_CASE("stalls while the usage is far below memory.high do not raise it") {
  Guarded container;
  container.next(400 * kMi, 0);
  CHECK(container.next(400 * kMi, 90) == 800 * kMi);
}

TEST_CASE("raises without effect end in a revert") {
  Guarded container;
  container.next(800 * kMi, 0);
  std::int64_t usage = 800 * kMi;
  std::optional<std::int64_t> high;
  for (int i = 0; i < 4; ++i) {
    high = container.next(usage, 40);
    if (*high != kNoLimit) usage = *high;
  }
  CHECK(high == kNoLimit);
  CHECK(container.guard.state() == HighGuard::State::released);
}

TEST_CASE("a raise up to the container's limit is a revert") {
  Guarded container;
  container.aim.limit = 850 * kMi;
  container.next(800 * kMi, 0);
  CHECK(container.next(800 * kMi, 40) == kNoLimit);
}

TEST_CASE("after a raise it is lowered again when the container has been calm for a minute") {
  Guarded container;
  container.next(800 * kMi, 0);
  container.next(800 * kMi, 30);
  for (int seconds = 10; seconds < 60; seconds += 10) CHECK(container.next(850 * kMi, 0) == 880 * kMi);
  CHECK(container.next(850 * kMi, 0) == 850 * kMi * 19 / 20 / 4096 * 4096);
}

TEST_CASE("between half of the share and the share it neither rises nor falls") {
  Guarded container;
  container.next(800 * kMi, 0);
  container.next(800 * kMi, 30);
  for (int i = 0; i < 100; ++i) CHECK(container.next(880 * kMi, 7) == 880 * kMi);
}

TEST_CASE("each subsequent raise doubles the required calm time, up to an hour") {
  Guarded container;
  container.next(800 * kMi, 0);
  int last = 0;
  for (int round = 0; round < 7; ++round) {
    container.next(800 * kMi, 30);
    int calm = 1;
    while (container.next(800 * kMi, 0) != 800 * kMi) ++calm;
    CHECK(calm > last);
    last = calm;
  }
  CHECK(last == 360);
}

TEST_CASE("a container that had no stalls at its target for the required time is reset") {
  Guarded container;
  container.next(800 * kMi, 0);
  container.next(800 * kMi, 30);
  for (int i = 0; i < 20; ++i) container.next(700 * kMi, 0);
  CHECK(container.guard.state() == HighGuard::State::at_target);
  container.next(800 * kMi, 30);
  for (int i = 0; i < 5; ++i) CHECK(container.next(700 * kMi, 0) == 880 * kMi);
  CHECK(container.next(700 * kMi, 0) == 800 * kMi);
}

TEST_CASE("a total that decreased counts neither as calm nor as pressure") {
  Guarded container;
  container.next(800 * kMi, 50);
  container.stalled_us = 0;
  CHECK(container.next(800 * kMi, 0) == 800 * kMi);
  CHECK(container.guard.stalled_percent() == std::nullopt);
}

TEST_CASE("without readable pressure it is lowered nevertheless, and never raised") {
  Guarded container;
  CHECK(container.next(1000 * kMi, std::nullopt) == 950 * kMi);
  CHECK(container.next(860 * kMi, std::nullopt) == 817 * kMi);
  CHECK(container.next(817 * kMi, std::nullopt) == 800 * kMi);
}

TEST_CASE("a target that rises is followed at once") {
  Guarded container;
  container.next(700 * kMi, 0);
  container.aim.target = kGi;
  CHECK(container.next(700 * kMi, 0, 1s) == kGi);
}
