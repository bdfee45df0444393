// SPDX-License-Identifier: Apache-2.0
// The gain of a batch: one record() of 1,000 points compared with 1,000 locked calls of one point each (AB2). The same
// with 64 points, the batch that most advisors send.
#include <algorithm>
#include <string>
#include <vector>

#include "core/metric/registry.hpp"
#include "measure.hpp"

using namespace koord;
using namespace koord::metric;

namespace {

constexpr std::size_t kSeries = 1000;
constexpr std::size_t kRounds = 7;
constexpr std::size_t kPointsPerRound = 2'000'000;

template <class Work>
double ns_per_point(Work work) {
  double seconds = bench::cpu_seconds_of([&] {
    for (std::size_t done = 0; done < kPointsPerRound; done += kSeries) work();
  });
  return seconds * 1e9 / kPointsPerRound;
}

std::vector<Point> points_of(Registry& registry) {
  auto metric = registry.define("bench", {.name = "usage", .unit = "1", .help = "A bench.", .resolution = 1e-4});
  std::vector<Point> points;
  for (std::size_t i = 0; i < kSeries; ++i)
    points.push_back(
        {*registry.series("bench", *metric, {}, {{"i", std::to_string(i)}}), static_cast<double>(i) * 0.1});
  return points;
}

}  // namespace

int main() {
  Registry registry("node");
  const std::vector<Point> points = points_of(registry);
  const Time now = from_ns(1);
  std::vector<double> batch, batch64, single;
  auto record = [&](std::size_t from, std::size_t n) { (void)registry.record("bench", now, {&points[from], n}); };
  for (std::size_t round = 0; round < kRounds; ++round) {
    single.push_back(ns_per_point([&] {
      for (std::size_t i = 0; i < kSeries; ++i) record(i, 1);
    }));
    batch.push_back(ns_per_point([&] { record(0, kSeries); }));
    batch64.push_back(ns_per_point([&] {
      for (std::size_t i = 0; i < kSeries; i += 64) record(i, std::min<std::size_t>(64, kSeries - i));
    }));
  }
  const double singles = bench::median(single), batches = bench::median(batch);
  bench::print_ratio("AB2 record, batch of 1000", batches, "1000 locked singles", singles, "ns/sample", 0.25);
  bench::print_ratio("AB2 record, batch of 64", bench::median(batch64), "64 locked singles", singles, "ns/sample",
                     0.30);
  return batches <= singles * 0.25 * 1.1 ? 0 : 1;
}
