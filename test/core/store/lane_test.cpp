// SPDX-License-Identifier: Apache-2.0
#include "core/store/lane.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace koord::store;

namespace {

constexpr std::uint32_t kMaxRows = 360;
constexpr std::int64_t kStart = 1'000'000;

// A lane with one series that has the row's number as its value.
struct CountingLane {
  Lane lane{1, 1, kMaxRows, 0};
  Column& column = lane.add(1);
  std::int64_t time_ms = kStart;
  std::int64_t count = 0;

  void append_rows(int rows, std::int64_t period_ms) {
    for (int i = 0; i < rows; ++i) {
      time_ms += period_ms;
      lane.begin_row(time_ms);
      lane.set(column, count++);
    }
  }
  std::int64_t seconds_in_memory() const { return (time_ms - lane.memory_from_ms(column)) / 1000; }
  std::vector<std::int64_t> in_memory() const {
    std::vector<std::int64_t> values;
    for (auto piece : lane.window(column, 0, time_ms).values) values.insert(values.end(), piece.begin(), piece.end());
    return values;
  }
};

}  // namespace

TEST_CASE("a slow metric keeps five minutes in memory, in as few rows as that takes") {
  CountingLane slow;
  slow.append_rows(500, 5000);
  CHECK(slow.seconds_in_memory() >= 300);
  CHECK(slow.in_memory().size() <= 64);
}

TEST_CASE("a metric of one value a minute takes eight rows") {
  CountingLane slow;
  slow.append_rows(500, 60'000);
  CHECK(slow.seconds_in_memory() >= 300);
  CHECK(slow.in_memory().size() == 8);
}

TEST_CASE("a series without a change has its values, and no ring until it changes") {
  CountingLane lane;
  Column& steady = lane.lane.add(2);
  const auto values = [&] {
    std::vector<std::int64_t> found;
    for (auto piece : lane.lane.window(steady, 0, lane.time_ms).values)
      found.insert(found.end(), piece.begin(), piece.end());
    return found;
  };
  for (int i = 0; i < 500; ++i) {
    lane.append_rows(1, 1000);
    lane.lane.set(steady, 7);
  }
  CHECK(values() == std::vector<std::int64_t>(kMaxRows, 7));
  CHECK_FALSE(steady.values);
  lane.append_rows(1, 1000);
  lane.lane.set(steady, 8);
  std::vector<std::int64_t> expected(kMaxRows - 1, 7);
  expected.push_back(8);
  CHECK(values() == expected);
  CHECK(steady.values);
}

TEST_CASE("a series without a change that misses a row has no value there") {
  CountingLane lane;
  Column& steady = lane.lane.add(2);
  for (bool has_value : {true, true, false, true}) {
    lane.append_rows(1, 1000);
    if (has_value) lane.lane.set(steady, 7);
  }
  const auto window = lane.lane.window(steady, 0, lane.time_ms);
  std::vector<std::int64_t> values(window.values[0].begin(), window.values[0].end());
  CHECK(values == std::vector<std::int64_t>{7, 7, kMissing, 7});
}

TEST_CASE("sealed rows of a series without a change are its value") {
  CountingLane lane;
  Column& steady = lane.lane.add(2);
  for (int i = 0; i < 3; ++i) {
    lane.append_rows(1, 1000);
    lane.lane.set(steady, 7);
  }
  std::uint64_t lost = 0;
  const ChunkRows rows = lane.lane.seal(lane.lane.group_of(steady), lane.time_ms, lost);
  REQUIRE(rows.series == std::vector<SeriesId>{1, 2});
  CHECK(rows.values[1] == std::vector<std::int64_t>{7, 7, 7});
}

TEST_CASE("a fast metric keeps at most kMaxRows rows in memory") {
  CountingLane fast;
  fast.append_rows(1000, 500);
  CHECK(fast.in_memory().size() == kMaxRows);
}

TEST_CASE("a ring that grows keeps its rows, in order") {
  for (int rows : {63, 64, 65, 128, 129, 256, 257, 360}) {
    CAPTURE(rows);
    CountingLane lane;
    lane.append_rows(rows, 1000);
    std::vector<std::int64_t> values = lane.in_memory();
    REQUIRE(values.size() == static_cast<std::size_t>(rows));
    for (int i = 0; i < rows; ++i) CHECK(values[static_cast<std::size_t>(i)] == i);
  }
}

TEST_CASE("a metric that turns faster gets more rows, one that turns slower keeps them") {
  CountingLane lane;
  lane.append_rows(100, 5000);
  lane.append_rows(400, 1000);
  CHECK(lane.seconds_in_memory() >= 300);
  lane.append_rows(100, 5000);
  CHECK(lane.in_memory().size() == kMaxRows);
}

TEST_CASE("a series that begins late, or has a gap, has no value from before when the ring grows") {
  CountingLane lane;
  lane.append_rows(30, 1000);
  Column& late = lane.lane.add(2);
  for (int i = 0; i < 60; ++i) {
    lane.append_rows(1, 1000);
    if (i < 10 || i == 59) lane.lane.set(late, 7);
  }
  auto window = lane.lane.window(late, 0, lane.time_ms);
  std::vector<std::int64_t> values;
  for (auto piece : window.values) values.insert(values.end(), piece.begin(), piece.end());
  REQUIRE(values.size() == 60);
  CHECK(std::count(values.begin(), values.end(), 7) == 11);
  CHECK(std::count(values.begin(), values.end(), kMissing) == 49);
}

TEST_CASE("a series that begins when its newest row is sealed has no value there") {
  CountingLane lane;
  lane.append_rows(3, 1000);
  std::uint64_t lost = 0;
  lane.lane.seal(lane.lane.group_of(lane.column), lane.time_ms, lost);
  Column& late = lane.lane.add(2);
  lane.lane.set(late, 7);
  auto window = lane.lane.window(late, 0, lane.time_ms);
  CHECK(window.values[0].empty());
  lane.append_rows(1, 1000);
  lane.lane.set(late, 8);
  CHECK(lane.lane.window(late, 0, lane.time_ms).values[0].back() == 8);
}
