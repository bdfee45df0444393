// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-memory-reclaim/reclaimer.hpp"

#include <doctest/doctest.h>

#include "plugins/qos-memory-reclaim/shares.hpp"

using namespace koord::memory_reclaim;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kMi = 1 << 20, kGi = 1 << 30;

// A pod with 10 GiB of page cache, evaluated each ten seconds. The kernel reclaims what is requested.
struct Reclaimed {
  Reclaimer reclaimer;
  Reading reading{.page_cache = 10 * kGi, .stalled_us = 0, .refaulted = 0};
  std::chrono::nanoseconds now{0};

  // `stalled`: percentage of the time since the last call. `refaulted`: bytes since the last call.
  std::int64_t want(double stalled = 0, std::int64_t refaulted = 0) {
    now += 10s;
    if (reading.stalled_us) *reading.stalled_us += static_cast<std::int64_t>(stalled / 100 * 10'000'000);
    if (reading.refaulted) *reading.refaulted += refaulted;
    const std::int64_t bytes = reclaimer.want(reading, now, {});
    reclaimer.asked(bytes);
    if (bytes > 0) reclaimer.given(bytes);
    return bytes;
  }
  // Evaluates until it does not back off any more.
  int pauses() {
    int count = 1;
    while (want() == 0) ++count;
    return count;
  }
};

}  // namespace

TEST_CASE("the first reading causes no reclaim") {
  Reclaimed pod;
  CHECK(pod.want() == 0);
  CHECK(pod.reclaimer.state() == Reclaimer::State::learning);
}

TEST_CASE("the first step is a thousandth of the page cache") {
  Reclaimed pod;
  pod.want();
  CHECK(pod.want() == 10 * kGi / 1000);
}

TEST_CASE("each step without cost makes the next a quarter larger, up to 32 MiB") {
  Reclaimed pod;
  pod.want();
  const std::int64_t first = pod.want();
  CHECK(pod.want() == static_cast<std::int64_t>(static_cast<double>(first) * 1.25));
  for (int i = 0; i < 20; ++i) pod.want();
  CHECK(pod.want() == 32 * kMi);
}

TEST_CASE("stalls below the limit slow it down in proportion, and at half of the limit it does not grow") {
  Reclaimed pod;
  pod.want();
  CHECK(pod.want(0.75) == 10 * kGi / 1000 / 4);
  const double rate = pod.reclaimer.rate();
  pod.want(0.75);
  CHECK(pod.reclaimer.rate() == rate);
}

TEST_CASE("stalls above the limit stop it for a minute, and it starts with small steps again") {
  Reclaimed pod;
  for (int i = 0; i < 10; ++i) pod.want();
  CHECK(pod.want(2) == 0);
  CHECK(pod.reclaimer.state() == Reclaimer::State::backing_off);
  CHECK(pod.pauses() == 6);
  CHECK(pod.reclaimer.rate() < 0.0013);
}

TEST_CASE("each subsequent pause is twice as long, up to an hour") {
  Reclaimed pod;
  pod.want();
  pod.want();
  int last = 0;
  for (int round = 0; round < 6; ++round) {
    CHECK(pod.want(2) == 0);
    const int pauses = pod.pauses();
    CHECK(pauses == (last == 0 ? 6 : 2 * last));
    last = pauses;
  }
  for (int round = 0; round < 3; ++round) {
    CHECK(pod.want(2) == 0);
    last = pod.pauses();
  }
  CHECK(last == 360);
}

TEST_CASE("stalls that continue extend the present pause, not the next one") {
  Reclaimed pod;
  pod.want();
  for (int i = 0; i < 30; ++i) CHECK(pod.want(5) == 0);
  CHECK(pod.pauses() == 6);
}

TEST_CASE("refaults stop it: more than a fifth of the reclaimed bytes") {
  Reclaimed pod;
  pod.want();
  const std::int64_t taken = pod.want();
  CHECK(pod.want(0, taken / 5 - kMi) > 0);
  CHECK(pod.want(0, taken) == 0);
}

TEST_CASE("a kernel that reclaims less than half of the requested amount has no more to reclaim") {
  Reclaimed pod;
  pod.want();
  const std::int64_t asked = pod.want();
  pod.reclaimer.given(asked / 3);
  CHECK(pod.want() == 0);
  CHECK(pod.reclaimer.state() == Reclaimer::State::backing_off);
}

TEST_CASE("in shadow mode it stays at its first step, because the cost of more is unknown") {
  Reclaimed pod;
  pod.want();
  for (int i = 0; i < 10; ++i) {
    CHECK(pod.want() == 10 * kGi / 1000);
    pod.reclaimer.given(std::nullopt);
  }
}

TEST_CASE("unknown inputs give no decision: no pressure, no page cache, a total that decreased") {
  Reclaimed pod;
  pod.want();
  pod.reading.stalled_us.reset();
  CHECK(pod.want() == 0);
  CHECK(pod.reclaimer.state() == Reclaimer::State::unknown);
  pod.reading.stalled_us = 1'000'000;
  CHECK(pod.want() == 0);
  CHECK(pod.want() > 0);
  pod.reading.stalled_us = 0;
  CHECK(pod.want() == 0);
  CHECK(pod.reclaimer.state() == Reclaimer::State::learning);
  pod.reading.page_cache.reset();
  CHECK(pod.want() == 0);
}

TEST_CASE("a small page cache is not reclaimed") {
  Reclaimed pod;
  pod.reading.page_cache = 500 * kMi;
  pod.want();
  CHECK(pod.want() == 0);
  CHECK(pod.reclaimer.state() == Reclaimer::State::nothing_left);
}

TEST_CASE("if cold memory is known, only cold memory is reclaimed, an eighth at once") {
  Reclaimed pod;
  pod.reading.cold = 160 * kMi;
  pod.want();
  CHECK(pod.want() == 20 * kMi);
  pod.reading.cold = 4 * kMi;
  CHECK(pod.want() == 4 * kMi);
  pod.reading.cold = 0;
  CHECK(pod.want() == 0);
  CHECK(pod.reclaimer.state() == Reclaimer::State::nothing_left);
}

TEST_CASE("a round's budget is given to pods with cold memory first, then to pods with the most page cache") {
  const std::vector<Claim> claims = {{10 * kMi, {}, kGi}, {10 * kMi, {}, 2 * kGi}, {10 * kMi, 5 * kMi, kMi}};
  CHECK(shares_of(claims, 100 * kMi) == std::vector<std::int64_t>{10 * kMi, 10 * kMi, 10 * kMi});
  CHECK(shares_of(claims, 15 * kMi) == std::vector<std::int64_t>{0, 5 * kMi, 10 * kMi});
  CHECK(shares_of(claims, 10 * kMi + 1000) == std::vector<std::int64_t>{0, 0, 10 * kMi});
  CHECK(shares_of({}).empty());
}
