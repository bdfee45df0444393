// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/analysis/histogram.hpp"

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

constexpr Buckets kCpuBuckets{0.025, 1024};                        // cores
constexpr Buckets kMemoryBuckets{5.0 * (1 << 20), 2199023255552};  // bytes
constexpr Duration kHalfLife = 12h;
// A multiple of the half-life, so a sample at this time has the weight 1.
const Time kBegin = Time(kHalfLife * 40'000);

Histogram cpu() { return {kCpuBuckets, kHalfLife}; }

Histogram cpu_of(std::initializer_list<double> values) {
  Histogram histogram = cpu();
  for (double value : values) histogram.add(value, kBegin);
  return histogram;
}

}  // namespace

TEST_CASE("CPU has 158 buckets from 25 milli-cores to 1024 cores, memory 205 from 5 MiB to 2 TiB") {
  CHECK(bucket_count(kCpuBuckets) == 158);
  CHECK(bucket_count(kMemoryBuckets) == 205);
}

TEST_CASE("a bucket is a twentieth wider than the one before it") {
  CHECK(bucket_start(kCpuBuckets, 0) == 0);
  CHECK(bucket_start(kCpuBuckets, 1) == doctest::Approx(0.025));
  CHECK(bucket_start(kCpuBuckets, 2) == doctest::Approx(0.025 + 0.02625));
  CHECK(bucket_start(kCpuBuckets, 3) == doctest::Approx(0.025 + 0.02625 + 0.0275625));
  CHECK(bucket_start(kMemoryBuckets, 2) == doctest::Approx(2.05 * 5 * 1024 * 1024));
}

TEST_CASE("a value falls into the bucket that holds it, one beyond the largest into the last") {
  CHECK(bucket_of(kCpuBuckets, 0) == 0);
  CHECK(bucket_of(kCpuBuckets, 0.0249) == 0);
  CHECK(bucket_of(kCpuBuckets, 0.0251) == 1);
  CHECK(bucket_of(kCpuBuckets, 0.052) == 2);
  CHECK(bucket_of(kCpuBuckets, 1024) == 156);
  CHECK(bucket_of(kCpuBuckets, 1e300) == 157);
  for (std::size_t bucket = 1; bucket + 2 < bucket_count(kMemoryBuckets); ++bucket) {
    const double middle = (bucket_start(kMemoryBuckets, bucket) + bucket_start(kMemoryBuckets, bucket + 1)) / 2;
    CHECK(bucket_of(kMemoryBuckets, middle) == bucket);
  }
}

TEST_CASE("a percentile is the end of the bucket in which it is reached") {
  // 0.03 is in [0.025, 0.05125), 1.0 in the bucket that begins at 0.025 * (1.05^22 - 1) / 0.05 = 0.962630.
  Histogram histogram = cpu_of({0.03, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03, 1.0});
  CHECK(histogram.percentile(0.60) == doctest::Approx(0.05125));
  CHECK(histogram.percentile(0.90) == doctest::Approx(0.05125));
  CHECK(histogram.percentile(0.91) == doctest::Approx(0.025 * (std::pow(1.05, 23) - 1) / 0.05));
  CHECK(histogram.percentile(1.0) == doctest::Approx(1.0357).epsilon(1e-4));
}

TEST_CASE("values in the last bucket are returned as its start") {
  Histogram histogram(Buckets{0.025, 0.06}, kHalfLife);
  histogram.add(5, kBegin);
  CHECK(histogram.percentile(1.0) == doctest::Approx(bucket_start({0.025, 0.06}, bucket_count({0.025, 0.06}) - 1)));
}

TEST_CASE("an empty histogram has percentile 0, and no use is returned as the end of the first bucket") {
  CHECK(cpu().percentile(0.95) == 0);
  CHECK(cpu().empty());
  CHECK(cpu_of({0}).percentile(0.95) == doctest::Approx(0.025));
  CHECK(cpu_of({-3}).percentile(0.95) == doctest::Approx(0.025));
}

TEST_CASE("a value that is not a number is left out") {
  CHECK(cpu_of({std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}).empty());
}

TEST_CASE("a sample counts half of one that is a half-life younger") {
  Histogram histogram = cpu();
  histogram.add(0.03, kBegin);
  histogram.add(1.0, kBegin + kHalfLife);  // has a weight of 2 of 3
  CHECK(histogram.state().total == doctest::Approx(3));
  CHECK(histogram.percentile(0.33) == doctest::Approx(0.05125));
  CHECK(histogram.percentile(0.34) > 1);
}

TEST_CASE("the reference time is the multiple of the half-life that is nearest to the first sample") {
  Histogram histogram = cpu();
  histogram.add(1, kBegin + 7h);
  CHECK(histogram.state().reference == kBegin + kHalfLife);
  CHECK(histogram.state().total == doctest::Approx(std::exp2(-5.0 / 12)));
}

TEST_CASE("after a hundred half-lives the reference time moves, and all weights with it") {
  Histogram histogram = cpu();
  histogram.add(0.03, kBegin);
  histogram.add(1.0, kBegin + 100 * kHalfLife);
  CHECK(histogram.state().reference == kBegin);
  CHECK(histogram.state().total == doctest::Approx(std::exp2(100)));
  histogram.add(1.0, kBegin + 101 * kHalfLife);
  CHECK(histogram.state().reference == kBegin + 101 * kHalfLife);
  CHECK(histogram.state().total == doctest::Approx(1.5));
  CHECK(histogram.percentile(0.0) > 1);  // the weight of the first sample is almost 0 and counts as 0
}

TEST_CASE("years of samples keep their percentiles, within bounds that a double has") {
  Histogram histogram = cpu();
  std::mt19937 random(1);
  std::uniform_real_distribution<double> use(1, 2);
  Time now = kBegin;
  for (; now < kBegin + 24h * 365 * 5; now += 1h) histogram.add(use(random), now);
  CHECK(std::isfinite(histogram.state().total));
  CHECK(histogram.percentile(0.6) == doctest::Approx(1.6).epsilon(0.12));
  CHECK(histogram.percentile(1.0) >= 1.95);
  CHECK(histogram.percentile(1.0) <= 2 * kGrowth * kGrowth);
}

TEST_CASE("percentiles rise with their share and are never below the sample nor above it by more than two buckets") {
  std::mt19937 random(2);
  std::lognormal_distribution<double> use(0, 2);
  for (int round = 0; round < 200; ++round) {
    Histogram histogram = cpu();
    const double value = use(random);
    histogram.add(value, kBegin + std::chrono::minutes(random() % 1'000'000));
    CHECK(histogram.percentile(0.95) >= value * (1 - 1e-9));
    CHECK(histogram.percentile(0.95) <= value * kGrowth * 1.0001 + 0.025);
    histogram.add(use(random), kBegin + std::chrono::minutes(1'000'000));
    double last = 0;
    for (double share : {0.1, 0.6, 0.9, 0.95, 0.98, 1.0}) {
      CHECK(histogram.percentile(share) >= last);
      last = histogram.percentile(share);
    }
  }
}

TEST_CASE(
    "moving the reference time changes no percentile: samples shifted by any number of half-lives give the same") {
  std::mt19937 random(3);
  std::lognormal_distribution<double> use(0, 1);
  for (int shift : {1, 99, 100, 101, 250, 3000}) {
    Histogram one = cpu(), other = cpu();
    other.add(3, kBegin - 2000 * kHalfLife);  // it has a different reference time
    for (int i = 0; i < 500; ++i) {
      const double value = use(random);
      one.add(value, kBegin + i * 10min);
      other.add(value, kBegin + shift * kHalfLife + i * 10min);
    }
    for (double share : {0.6, 0.9, 0.95, 0.98, 1.0}) CHECK(one.percentile(share) == other.percentile(share));
  }
}

TEST_CASE("the kept state of a histogram gives the same histogram") {
  Histogram histogram = cpu_of({0.03, 0.5, 1.0, 200});
  Result<Histogram> restored = Histogram::restore(kCpuBuckets, kHalfLife, histogram.state(), kBegin);
  REQUIRE(restored);
  CHECK(restored->state() == histogram.state());
  restored->add(0.5, kBegin + 1h);
  histogram.add(0.5, kBegin + 1h);
  CHECK(restored->state() == histogram.state());
}

TEST_CASE("with another half-life the old samples weigh as much as they did at the newest one") {
  Histogram histogram = cpu();
  histogram.add(0.03, kBegin);
  histogram.add(1.0, kBegin + 90 * kHalfLife);
  const Time last = kBegin + 90 * kHalfLife;
  Result<Histogram> restored = Histogram::restore(kCpuBuckets, 24h, histogram.state(), last);
  REQUIRE(restored);
  CHECK(restored->state().total == doctest::Approx(1));
  restored->add(5.0, last);
  CHECK(restored->percentile(0.49) < 1.1);
  CHECK(restored->percentile(0.51) > 5);
}

TEST_CASE("weights that no samples could have made are refused") {
  const auto restore = [](Histogram::State state) {
    return Histogram::restore(kCpuBuckets, kHalfLife, std::move(state), kBegin).has_value();
  };
  CHECK(restore({kBegin, kHalfLife, 3, 0, {1, 2}}));
  CHECK_FALSE(restore({kBegin, kHalfLife, 4, 0, {1, 2}}));
  CHECK_FALSE(restore({kBegin, kHalfLife, 1, 0, {2, -1}}));
  CHECK_FALSE(restore({kBegin, kHalfLife, 3, 157, {1, 2}}));
  CHECK_FALSE(restore({kBegin, kHalfLife, 1e308, 0, {1e308, 1e308, 1e308}}));
  CHECK_FALSE(restore({kBegin + 2 * kHalfLife, kHalfLife, 3, 0, {1, 2}}));
  CHECK_FALSE(restore({kBegin, Duration(0), 3, 0, {1, 2}}));
  CHECK_FALSE(restore({kBegin, kHalfLife, 3, 0, {1, std::numeric_limits<double>::infinity()}}));
}
