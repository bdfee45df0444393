// SPDX-License-Identifier: Apache-2.0
#include "core/manager/write_bounds.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::manager;
using namespace std::chrono_literals;

TEST_CASE("after three overwrites an object is left alone until the window is over") {
  WriteBounds bounds;
  Time now(1h);
  for (int i = 0; i < 3; ++i) {
    CHECK(bounds.may_write_at("n", now) == now);
    bounds.overwritten("n", "koord-manager-other", now);
    now += 1s;
  }
  CHECK(bounds.may_write_at("n", now) == Time(1h) + 10min);
  CHECK(bounds.contested(now) == 1);
  CHECK(bounds.last_writer() == "koord-manager-other");
  CHECK(bounds.may_write_at("other", now) == now);
  now += 10min;
  CHECK(bounds.may_write_at("n", now) == now);
  CHECK(bounds.contested(now) == 0);
  CHECK(bounds.overwrites() == 3);
}

TEST_CASE("seldom overwrites do not add up") {
  WriteBounds bounds;
  Time now(1h);
  for (int i = 0; i < 10; ++i, now += 11min) {
    bounds.overwritten("n", "", now);
    CHECK(bounds.may_write_at("n", now) == now);
  }
}

TEST_CASE("the last other writer is in managedFields") {
  const char* object = R"({"metadata": {"managedFields": [
    {"manager": "koord-manager", "time": "2026-01-03T00:00:00Z"},
    {"manager": "koordinator", "time": "2026-01-02T00:00:00Z"},
    {"manager": "kubectl", "time": "2026-01-01T00:00:00Z"}]}})";
  CHECK(last_manager_of(object, "koord-manager") == "koordinator");
  for (const char* text :
       {"", "[]", "{}", R"({"metadata": {"managedFields": 7}})", R"({"metadata": {"managedFields": [7]}})"})
    CHECK(last_manager_of(text, "koord-manager").empty());
}
