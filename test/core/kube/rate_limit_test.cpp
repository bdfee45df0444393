// SPDX-License-Identifier: Apache-2.0
#include "core/kube/rate_limit.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::kube;
using namespace std::chrono_literals;

namespace {

// Returns how many requests of this verb are allowed at this time.
int at_once(RateLimit& limit, Verb verb, Time now) {
  int count = 0;
  while (limit.take(verb, now) == 0s) ++count;
  return count;
}

const Time kStart = Time(1000s);

}  // namespace

TEST_CASE("a burst may be sent at once, then as many each second as the rate says") {
  RateLimit limit(5, 10);
  CHECK(at_once(limit, Verb::get, kStart) == 10);
  CHECK(limit.take(Verb::get, kStart) == 200ms);
  CHECK(limit.take(Verb::get, kStart + 199ms) == 1ms);
  CHECK(limit.take(Verb::get, kStart + 200ms) == 0s);
  CHECK(limit.take(Verb::get, kStart + 200ms) == 200ms);
}

TEST_CASE("a bucket refills up to the burst and no further") {
  RateLimit limit(5, 10);
  at_once(limit, Verb::list, kStart);
  CHECK(at_once(limit, Verb::list, kStart + 1s) == 5);
  CHECK(at_once(limit, Verb::list, kStart + 1h) == 10);
}

TEST_CASE("all verbs share a bucket but watch, which has its own") {
  RateLimit limit(5, 2);
  CHECK(limit.take(Verb::get, kStart) == 0s);
  CHECK(limit.take(Verb::update, kStart) == 0s);
  CHECK(limit.take(Verb::patch, kStart) > 0s);
  CHECK(at_once(limit, Verb::watch, kStart) == 2);
}

TEST_CASE("a verb that the server holds back waits until then, others go on") {
  RateLimit limit(5, 2);
  limit.hold(Verb::list, 7s, kStart);
  CHECK(limit.take(Verb::list, kStart) == 7s);
  CHECK(limit.take(Verb::list, kStart + 6s) == 1s);
  CHECK(limit.take(Verb::get, kStart + 6s) == 0s);
  CHECK(limit.take(Verb::list, kStart + 7s) == 0s);
}

TEST_CASE("the longest hold counts, and a hold lasts at most a minute") {
  RateLimit limit(5, 2);
  limit.hold(Verb::get, 20s, kStart);
  limit.hold(Verb::get, 1s, kStart);
  CHECK(limit.take(Verb::get, kStart) == 20s);
  limit.hold(Verb::get, 24h, kStart);
  CHECK(limit.take(Verb::get, kStart) == kLongestHold);
  limit.hold(Verb::watch, -5s, kStart);
  CHECK(limit.take(Verb::watch, kStart) == 0s);
}

TEST_CASE("a rate and a burst of nothing let requests through all the same, slowly") {
  RateLimit limit(0, 0);
  CHECK(limit.take(Verb::get, kStart) == 0s);
  CHECK(limit.take(Verb::get, kStart) == 1000s);
}
