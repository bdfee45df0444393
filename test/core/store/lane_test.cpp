// SPDX-License-Identifier: Apache-2.0
#include "core/store/lane.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace koord::store;

namespace {

constexpr std::uint32_t kMaxRows = 360;
constexpr std::int64_t kStart = 1'000'000;

// A lane with one series. Its values are the row numbers.
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
  std::vector<std::int64_t> in_memory() const { return in_memory(column); }
  std::vector<std::int64_t> in_memory(const Column& of) const {
    std::vector<std::int64_t> values;
    lane.each(of, lane.rows_between(of, 0, time_ms),
              [&](std::int64_t, std::int64_t value) { values.push_back(value); });
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
  for (int i = 0; i < 500; ++i) {
    lane.append_rows(1, 1000);
    lane.lane.set(steady, 7);
  }
  CHECK(lane.in_memory(steady) == std::vector<std::int64_t>(kMaxRows, 7));
  CHECK_FALSE(steady.ring);
  lane.append_rows(1, 1000);
  lane.lane.set(steady, 8);
  std::vector<std::int64_t> expected(kMaxRows - 1, 7);
  expected.push_back(8);
  CHECK(lane.in_memory(steady) == expected);
  CHECK(steady.ring);
}

TEST_CASE("a series without a change that misses a row has no value there") {
  CountingLane lane;
  Column& steady = lane.lane.add(2);
  for (bool has_value : {true, true, false, true}) {
    lane.append_rows(1, 1000);
    if (has_value) lane.lane.set(steady, 7);
  }
  CHECK(lane.in_memory(steady) == std::vector<std::int64_t>{7, 7, kMissing, 7});
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

TEST_CASE("a metric with a shorter period gets more rows, one with a longer period keeps them") {
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
  const std::vector<std::int64_t> values = lane.in_memory(late);
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
  CHECK(lane.in_memory(late).empty());
  lane.append_rows(1, 1000);
  lane.lane.set(late, 8);
  CHECK(lane.in_memory(late).back() == 8);
}

TEST_CASE("values near each other take 4 bytes each, others 8, and all are read unchanged") {
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  struct Row {
    const char* name;
    std::vector<std::int64_t> values;
    bool is_wide;
  };
  const Row rows[] = {
      {"near", {kFar, kFar + 1, kFar - 1}, false},
      {"both ends of 32 bits", {0, INT32_MAX, -INT32_MAX}, false},
      {"the widest span", {0, 2 * std::int64_t{INT32_MAX}}, false},
      {"one wider", {0, 2 * std::int64_t{INT32_MAX} + 1}, true},
      {"far", {1, kFar, -kFar, 1}, true},
      {"a missing one", {1, kMissing, kFar, kMissing, 2}, true},
      {"a counter beyond 32 bits", {0, INT32_MAX, kMissing, 2 * std::int64_t{INT32_MAX} - 1}, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CountingLane lane;
    Column& column = lane.lane.add(2);
    for (const std::int64_t value : row.values) {
      lane.append_rows(1, 1000);
      if (value != kMissing) lane.lane.set(column, value);
    }
    CHECK(lane.in_memory(column) == row.values);
    CHECK(column.is_wide == row.is_wide);
  }
}

TEST_CASE("a ring grows with values of 8 bytes, and has 4 again when a seal finds the far value gone") {
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  CountingLane lane;
  Column& column = lane.lane.add(2);
  std::vector<std::int64_t> expected;
  const auto append = [&](std::int64_t value) {
    lane.append_rows(1, 1000);
    lane.lane.set(column, value);
    expected.push_back(value);
  };
  append(1);
  append(kFar);
  for (std::int64_t i = 2; i < kMaxRows; ++i) append(i);
  CHECK(lane.in_memory(column) == expected);
  std::uint64_t lost = 0;
  lane.lane.seal(lane.lane.group_of(column), lane.time_ms, lost);
  CHECK(column.is_wide);
  append(7);
  append(8);
  lane.lane.seal(lane.lane.group_of(column), lane.time_ms, lost);
  CHECK_FALSE(column.is_wide);
  CHECK(lane.in_memory(column) == std::vector<std::int64_t>(expected.begin() + 2, expected.end()));
}
