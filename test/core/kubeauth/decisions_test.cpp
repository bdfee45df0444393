// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/decisions.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::kubeauth;
using namespace std::chrono_literals;

namespace {

const Time kNow = from_ns(1'000'000'000'000);

}  // namespace

TEST_CASE("a decision is kept for its time and not a moment longer") {
  Decisions<int> kept(10s, 4, 1000);
  kept.add("a", 1, kNow);
  CHECK(*kept.find("a", kNow + 10s - 1ns) == 1);
  CHECK(kept.find("a", kNow + 10s) == nullptr);
  CHECK(kept.size() == 0);
}

TEST_CASE("the oldest decision makes room for a new one") {
  Decisions<int> kept(10s, 2, 1000);
  kept.add("a", 1, kNow);
  kept.add("b", 2, kNow + 1s);
  kept.add("c", 3, kNow + 2s);
  CHECK(kept.find("a", kNow + 2s) == nullptr);
  CHECK(*kept.find("b", kNow + 2s) == 2);
  CHECK(*kept.find("c", kNow + 2s) == 3);
}

TEST_CASE("a second decision on one question does not extend the time of the first") {
  Decisions<int> kept(10s, 4, 1000);
  kept.add("a", 1, kNow);
  kept.add("a", 2, kNow + 9s);
  CHECK(*kept.find("a", kNow + 9s) == 1);
  CHECK(kept.find("a", kNow + 10s) == nullptr);
}

TEST_CASE("many questions keep no more than the bound") {
  Decisions<int> kept(10s, 8, 1000);
  for (int i = 0; i < 1000; ++i) kept.add(std::to_string(i), i, kNow);
  CHECK(kept.size() == 8);
  CHECK(*kept.find("999", kNow) == 999);
}

TEST_CASE("long questions keep no more bytes than the bound, and one that is too long is not kept") {
  Decisions<int> kept(10s, 100, 1000);
  for (char name = 'a'; name <= 'z'; ++name) kept.add(std::string(300, name), name, kNow);
  CHECK(kept.size() == 3);
  CHECK(kept.bytes() == 900);
  CHECK(*kept.find(std::string(300, 'z'), kNow) == 'z');
  kept.add(std::string(1001, 'a'), 1, kNow);
  CHECK(kept.size() == 3);
  CHECK(kept.find("none", kNow + 10s) == nullptr);
  CHECK(kept.bytes() == 0);
}
