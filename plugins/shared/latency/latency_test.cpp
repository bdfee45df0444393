// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/latency/histogram.hpp"

#include <doctest/doctest.h>

#include "plugins/shared/latency/windows.hpp"

using koord::latency::added;
using koord::latency::exported_bounds_seconds;
using koord::latency::exported_cumulative;
using koord::latency::Histogram;
using koord::latency::kBuckets;
using koord::latency::mean_seconds;
using koord::latency::quantile_seconds;

namespace {

using Windows = koord::latency::Windows<Histogram>;

Histogram waits(std::size_t bucket, std::uint64_t n, std::uint64_t each_ns = 1000) {
  Histogram histogram;
  histogram.count = n;
  histogram.sum_ns = n * each_ns;
  histogram.buckets[bucket] = n;
  return histogram;
}

Histogram sum(Histogram left, const Histogram& right) { return left += right; }

}  // namespace

TEST_CASE("the difference of two running totals is the added amount") {
  Histogram before = waits(3, 10);
  CHECK(added(before, sum(before, waits(5, 2, 20'000))) == waits(5, 2, 20'000));
  CHECK(added(before, before) == Histogram{});
}

TEST_CASE("a running total that decreased was reset, and the new total counts whole") {
  CHECK(added(waits(3, 10), waits(3, 4)) == waits(3, 4));
}

TEST_CASE("a sum that lags behind its count never becomes negative") {
  Histogram now = waits(0, 11, 900);
  now.sum_ns = 9'000;
  CHECK(added(waits(0, 10, 1000), now).sum_ns == 0);
}

TEST_CASE("a quantile lies inside the bucket of its rank, at the share of the waits below it") {
  Histogram histogram = sum(waits(0, 50), waits(4, 50));  // 50 below 1 µs, 50 in [8, 16) µs
  CHECK(*quantile_seconds(histogram, 0.25) == doctest::Approx(0.5e-6));
  CHECK(*quantile_seconds(histogram, 0.50) == doctest::Approx(1e-6));
  CHECK(*quantile_seconds(histogram, 0.75) == doctest::Approx(12e-6));
  CHECK(*quantile_seconds(histogram, 1.00) == doctest::Approx(16e-6));
}

TEST_CASE("a quantile in the open last bucket is the bucket's lower bound") {
  CHECK(*quantile_seconds(waits(kBuckets - 1, 3), 0.99) == doctest::Approx(16.777216));
}

TEST_CASE("without waits there is no quantile and no mean") {
  CHECK_FALSE(quantile_seconds(Histogram{}, 0.5));
  CHECK_FALSE(mean_seconds(Histogram{}));
}

TEST_CASE("a source without buckets has a mean and no quantile") {
  Histogram histogram;
  histogram.count = 4;
  histogram.sum_ns = 8'000'000;
  CHECK(*mean_seconds(histogram) == doctest::Approx(2e-3));
  CHECK_FALSE(quantile_seconds(histogram, 0.5));
}

TEST_CASE("exported bounds are powers of four from 4 µs to 16.8 s") {
  auto bounds = exported_bounds_seconds();
  REQUIRE(bounds.size() == 12);
  CHECK(bounds.front() == doctest::Approx(4e-6));
  CHECK(bounds.back() == doctest::Approx(16.777216));
}

TEST_CASE("exported counts are cumulative and end in the count of all") {
  Histogram histogram = sum(sum(waits(0, 1), waits(2, 2)), sum(waits(3, 4), waits(kBuckets - 1, 8)));
  auto cumulative = exported_cumulative(histogram);
  REQUIRE(cumulative.size() == 13);
  CHECK(cumulative[0] == 3);   // up to 4 µs
  CHECK(cumulative[1] == 7);   // up to 16 µs
  CHECK(cumulative[11] == 7);  // up to 16.8 s
  CHECK(cumulative[12] == 15);
}

TEST_CASE("a window has the waits of each cgroup since the previous reading") {
  Windows windows;
  windows.advance({.cgroups = {{7, waits(3, 10)}}, .unassigned = Histogram{}});
  windows.advance({.cgroups = {{7, waits(3, 12)}, {8, waits(4, 1)}}, .unassigned = Histogram{}});
  CHECK(windows.of(7) == waits(3, 2));
  CHECK(windows.of(8) == waits(4, 1));
  CHECK(windows.of(9) == Histogram{});
}

TEST_CASE("the last waits of a removed cgroup are in one window and no later one") {
  Windows windows;
  windows.advance({.cgroups = {{7, waits(3, 10)}}, .unassigned = Histogram{}});
  windows.advance({.ended = {{7, waits(3, 15)}}, .unassigned = Histogram{}});
  CHECK(windows.of(7) == waits(3, 5));
  CHECK(windows.node() == waits(3, 5));
  windows.advance({.unassigned = Histogram{}});
  CHECK(windows.of(7) == Histogram{});
}

TEST_CASE("the node's window has every cgroup and the waits without a free slot") {
  Windows windows;
  windows.advance({.cgroups = {{7, waits(3, 10)}}, .unassigned = waits(9, 5)});
  windows.advance({.cgroups = {{7, waits(3, 11)}}, .unassigned = waits(9, 7)});
  CHECK(*windows.node() == sum(waits(3, 1), waits(9, 2)));
}

TEST_CASE("a source that does not see the whole node has no window for it") {
  Windows windows;
  windows.advance({.cgroups = {{7, waits(3, 10)}}});
  CHECK_FALSE(windows.node());
}
