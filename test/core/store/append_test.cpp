// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "test/core/store/store_fixture.hpp"

using namespace koord;
using namespace koord::test;

TEST_CASE_FIXTURE(StoreFixture, "a sample is rounded to the metric's resolution") {
  begin(1, "cpu", {}, 0.0001);
  append(1, 0.12344);
  CHECK(values("cpu") == std::vector{0.1234});
}

TEST_CASE_FIXTURE(StoreFixture, "a batch with an unknown index is refused as a whole") {
  begin(1, "cpu");
  std::vector<Sample> batch{{1, 5}, {2, 6}};
  CHECK(store->append(clock.now(), batch).error().text == "no series has the index 2, nothing appended");
  CHECK(values("cpu").empty());
}

TEST_CASE_FIXTURE(StoreFixture, "an infinite or a too large value refuses the batch") {
  begin(1, "cpu");
  begin(2, "mem");
  for (double bad : {std::numeric_limits<double>::infinity(), 1e19, -1e19}) {
    std::vector<Sample> batch{{1, 5}, {2, bad}};
    CHECK(store->append(clock.now(), batch).error().text.starts_with("metric 'mem': value "));
  }
  CHECK(values("cpu").empty());
}

TEST_CASE_FIXTURE(StoreFixture, "NaN is no sample") {
  begin(1, "cpu");
  append(1, std::nan(""));
  CHECK(values("cpu").empty());
}

TEST_CASE_FIXTURE(StoreFixture, "a time before the metric's newest row is refused, the same time joins the row") {
  begin(1, "cpu", {{"pod", "a"}});
  begin(2, "cpu", {{"pod", "b"}});
  append(1, 1);
  append(2, 2);
  CHECK(values("cpu", {{"pod", "b"}}) == std::vector{2.0});
  Sample late{1, 3};
  CHECK_FALSE(store->append(clock.now() - 1s, {&late, 1}));
  CHECK(values("cpu") == std::vector{1.0, 2.0});
}

TEST_CASE_FIXTURE(StoreFixture, "a stepped wall clock changes nothing") {
  begin(1, "cpu");
  append_seconds(1, 5);
  clock.step_wall(-1h);
  append_seconds(1, 5, 5);
  clock.step_wall(2h);
  append_seconds(1, 5, 10);
  CHECK(values("cpu") == counting(15));
}

TEST_CASE_FIXTURE(StoreFixture, "a series that begins while its metric's row is open has its value in that row") {
  begin(1, "cpu", {{"pod", "a"}});
  append(1, 1);
  for (std::uint32_t i = 2; i < 40; ++i) begin(i, "cpu", {{"pod", std::to_string(i)}});
  append(39, 7);
  CHECK(values("cpu", {{"pod", "39"}}) == std::vector{7.0});
}

TEST_CASE_FIXTURE(StoreFixture, "rows without a sample of a series are gaps, not zeros") {
  begin(1, "cpu", {{"pod", "a"}});
  begin(2, "cpu", {{"pod", "b"}});
  append(1, 1);
  for (int i = 0; i < 700; ++i) {
    clock.advance(1s);
    append(2, i);
    if (i % 50 == 0) store->flush();
  }
  clock.advance(1s);
  append(1, 3);
  CHECK(values("cpu", {{"pod", "a"}}) == std::vector{1.0, 3.0});
  CHECK(values("cpu", {{"pod", "b"}}) == counting(700));
}

TEST_CASE_FIXTURE(StoreFixture, "an index or an identity in use cannot begin again") {
  begin(1, "cpu", {{"pod", "a"}});
  CHECK(store->begin_series(1, {"mem", "1", 1, {}}).error().text == "the series index 1 is in use");
  CHECK(store->begin_series(2, {"cpu", "1", 1, {{"pod", "a"}}}).error().text ==
        "metric 'cpu': a series with the labels {\"pod\":\"a\"} has begun and not ended");
  CHECK_FALSE(store->begin_series(3, {"cpu", "1", 0, {}}));
}

TEST_CASE("without a path everything is in memory") {
  ManualClock clock;
  Options options;
  std::unique_ptr<Store> store = std::move(*Store::open(options, clock));
  REQUIRE(store->begin_series(1, {"cpu", "1", 1, {}}));
  Sample sample{1, 5};
  REQUIRE(store->append(clock.now(), {&sample, 1}));
  CHECK(store->stats().mode == Mode::memory);
  CHECK(store->samples({"cpu", {}, from_ns(1), clock.now()}).size() == 1);
}

TEST_CASE("an option out of range is refused by name") {
  ManualClock clock;
  Options options;
  options.ring_rows = 10;
  CHECK(Store::open(options, clock).error().text == "store ring_rows: 10 is out of range, expected 130 to 100000");
}
