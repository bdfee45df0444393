// SPDX-License-Identifier: Apache-2.0
#include "core/base/backoff.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace koord;
using namespace std::chrono_literals;

TEST_CASE("each failure doubles the wait up to the longest, and a success resets it") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Backoff backoff(10s, 2min, seed);
    CHECK(backoff.failed() <= 10s);
    Duration most = 10s;
    for (int failure = 0; failure < 100; ++failure) {
      most = std::min<Duration>(most * 2, 2min);
      const Duration wait = backoff.failed();
      CHECK(wait >= most / 2);
      CHECK(wait <= most);
    }
    backoff.succeeded();
    CHECK(backoff.failed() <= 10s);
  }
}

TEST_CASE("clients that failed at the same time retry at times spread over the whole first wait") {
  int in_second[10] = {};
  for (std::uint64_t seed = 0; seed < 10'000; ++seed)
    ++in_second[std::min<std::int64_t>(Backoff(10s, 2min, seed).failed() / 1s, 9)];
  for (int count : in_second) {
    CHECK(count > 850);
    CHECK(count < 1150);
  }
}

TEST_CASE("the wait that the server asks for is kept, and a tenth longer at most") {
  std::set<Duration> waits;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Duration wait = Backoff(1s, 2s, seed).failed(60s);
    CHECK(wait >= 60s);
    CHECK(wait <= 66s);
    waits.insert(wait);
  }
  CHECK(waits.size() > 90);
}

TEST_CASE("a server's wait of more than ten minutes is ignored") { CHECK(Backoff(1s, 2s, 1).failed(1000h) <= 11min); }
