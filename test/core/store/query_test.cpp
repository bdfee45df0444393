// SPDX-License-Identifier: Apache-2.0
#include "core/store/chunk.hpp"
#include "test/core/store/store_fixture.hpp"

using namespace koord;
using namespace koord::test;

namespace {
constexpr Aggregation kAll[] = {Aggregation::last, Aggregation::avg,   Aggregation::min,
                                Aggregation::max,  Aggregation::count, Aggregation::p50,
                                Aggregation::p90,  Aggregation::p95,   Aggregation::p99};
}

TEST_CASE_FIXTURE(StoreFixture, "a percentile is the sample at floor(n * p / 100) - 1 in ascending order") {
  begin(1, "cpu");
  append_seconds(1, 100, 1);
  auto rows = store->aggregate(all("cpu"), kAll);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].values == std::vector<double>{100, 50.5, 1, 100, 100, 50, 90, 95, 99});
}

TEST_CASE_FIXTURE(StoreFixture, "the percentiles of one sample are all equal to it") {
  begin(1, "cpu");
  append(1, 7);
  CHECK(store->aggregate_series(1, kAll, from_ns(1), clock.now())->values ==
        std::vector<double>{7, 7, 7, 7, 1, 7, 7, 7, 7});
}

TEST_CASE_FIXTURE(StoreFixture, "a span counts both its ends and returns the covered time") {
  begin(1, "cpu");
  Time start = clock.now();
  append_seconds(1, 10);
  auto row = store->aggregate_series(1, kAll, start + 2s, start + 5s);
  REQUIRE(row);
  CHECK(row->count == 4);
  CHECK(row->from == start + 2s);
  CHECK(row->to == start + 5s);
}

TEST_CASE_FIXTURE(StoreFixture, "no sample in the span is no row") {
  begin(1, "cpu");
  append(1, 7);
  CHECK_FALSE(store->aggregate_series(1, kAll, clock.now() + 1s, clock.now() + 2s));
  CHECK(store->aggregate({"cpu", {}, clock.now() + 1s, clock.now() + 2s}, kAll).empty());
  CHECK(store->aggregate(all("memory"), kAll).empty());
}

TEST_CASE_FIXTURE(StoreFixture, "a query by labels finds the series that have them all") {
  begin(1, "cpu", {{"pod", "a"}, {"node", "n"}});
  begin(2, "cpu", {{"pod", "b"}, {"node", "n"}});
  begin(3, "mem", {{"pod", "a"}, {"node", "n"}});
  for (std::uint32_t i : {1u, 2u, 3u}) append(i, i);
  CHECK(values("cpu", {{"node", "n"}}) == std::vector{1.0, 2.0});
  CHECK(values("cpu", {{"pod", "b"}, {"node", "n"}}) == std::vector{2.0});
  CHECK(values("cpu", {{"pod", "c"}}).empty());
}

TEST_CASE_FIXTURE(
    StoreFixture,
    "rows are in the order of their labels, and without labels in the order in which their series began") {
  begin(1, "cpu", {{"pod", "b"}});
  begin(2, "cpu", {{"pod", "a"}});
  for (std::uint32_t i : {1u, 2u}) append(i, i);
  Query query = all("cpu");
  auto rows = store->aggregate(query, kAll);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].labels == Labels{{"pod", "a"}});
  CHECK(rows[0].values[0] == 2);
  query.with_labels = false;
  rows = store->aggregate(query, kAll);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].labels.empty());
  CHECK(rows[0].values[0] == 1);
  CHECK(rows[1].values[0] == 2);
}

TEST_CASE_FIXTURE(StoreFixture, "samples that are no longer in memory are read from the file, each exactly once") {
  begin(1, "cpu");
  append_seconds(1, 1500);
  store->flush();
  CHECK(values("cpu") == counting(1500));
  CHECK(store->stats().chunks >= 10);
}

TEST_CASE_FIXTURE(StoreFixture, "many series of a metric keep their own samples in shared chunks") {
  for (std::uint32_t i = 0; i < 100; ++i) begin(i, "cpu", {{"pod", std::to_string(i)}});
  for (int tick = 0; tick < 600; ++tick) {
    std::vector<Sample> batch;
    for (std::uint32_t i = 0; i < 100; ++i) batch.push_back({i, tick * 100.0 + i});
    REQUIRE(store->append(clock.now(), batch));
    clock.advance(1s);
    if (tick % 20 == 0) store->flush();
  }
  std::vector<double> found = values("cpu", {{"pod", "77"}});
  REQUIRE(found.size() == 600);
  CHECK(found[0] == 77);
  CHECK(found[599] == 59977);
}

TEST_CASE_FIXTURE(StoreFixture, "an ended series can still be queried, and continues when it begins again") {
  begin(1, "cpu", {{"pod", "a"}});
  append_seconds(1, 200);
  store->end_series(1);
  store->flush();
  CHECK(values("cpu", {{"pod", "a"}}) == counting(200));
  begin(9, "cpu", {{"pod", "a"}});
  append_seconds(9, 100, 200);
  CHECK(values("cpu", {{"pod", "a"}}) == counting(300));
  CHECK(store->stats().series == 1);
}

TEST_CASE_FIXTURE(StoreFixture, "a metric that changes its resolution keeps its history") {
  begin(1, "cpu", {}, 1);
  append_seconds(1, 3);
  store->end_series(1);
  begin(1, "cpu", {}, 0.1);
  append(1, 2.5);
  CHECK(values("cpu") == std::vector<double>{0, 1, 2, 2.5});
  CHECK(store->aggregate(all("cpu"), kAll).size() == 1);
}

TEST_CASE_FIXTURE(StoreFixture, "a query stops after the series with which it has more samples or rows than it may") {
  for (std::uint32_t i = 1; i <= 5; ++i) begin(i, "cpu", {{"pod", std::to_string(i)}});
  for (int row = 0; row < 10; ++row) {
    for (std::uint32_t i = 1; i <= 5; ++i) append(i, row);
    clock.advance(1s);
  }
  Query query = all("cpu");
  query.most_samples = 20;
  CHECK(store->samples(query).size() == 3);
  CHECK(store->aggregate(query, kAll).size() == 3);
  query = all("cpu");
  query.most_rows = 1;
  CHECK(store->samples(query).size() == 2);
  CHECK(store->aggregate(query, kAll).size() == 2);
}

TEST_CASE_FIXTURE(StoreFixture, "a query of short and then long series keeps a limited number of samples in memory") {
  constexpr std::uint32_t kSeries = 65, kLong = 8000, kRowsOfChunk = 500;
  for (std::uint32_t i = 0; i < 2 * kSeries; ++i) begin(i, "cpu", {{"n", std::to_string(1000 + i)}});
  for (std::uint32_t tick = 0; tick < kLong; ++tick) {
    std::vector<Sample> batch;
    for (std::uint32_t i = tick + 1 == kLong ? 0 : kSeries; i < 2 * kSeries; ++i) batch.push_back({i, double(tick)});
    REQUIRE(store->append(clock.now(), batch));
    clock.advance(1s);
    if ((tick + 1) % kRowsOfChunk == 0) store->flush();
  }
  const auto rows = store->aggregate(all("cpu"), std::array{Aggregation::max, Aggregation::count});
  REQUIRE(rows.size() == 2 * kSeries);
  for (std::uint32_t i = 0; i < kSeries; ++i) {
    CHECK(rows[i].values == std::vector<double>{kLong - 1, 1});
    CHECK(rows[kSeries + i].values[0] == kLong - 1);
    CHECK(rows[kSeries + i].values[1] > 4'500);  // too many for 64 series
  }
  // The kept samples, and the samples of the chunk in which the limit was exceeded.
  CHECK(store->stats().most_gathered > 256 << 10);
  CHECK(store->stats().most_gathered <= (256 << 10) + kGroupSeries * kRowsOfChunk);
}
