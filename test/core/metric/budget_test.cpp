// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "exposition_checker.hpp"
#include "fixture.hpp"

using namespace koord;
using namespace koord::metric;
using namespace koord::test;

namespace {

SeriesId numbered(Registry& registry, const Desc& desc, int i) {
  return *registry.series("p", *registry.define("p", desc),
                          container(static_cast<std::uint64_t>(i) + 1, std::to_string(i)), {{"i", std::to_string(i)}});
}

}  // namespace

TEST_CASE("series beyond the budget share one series per metric, and are counted") {
  Registry registry;
  registry.set_budget("p", 2);
  SeriesId first = numbered(registry, gauge("g"), 0);
  numbered(registry, gauge("g"), 1);
  SeriesId other = numbered(registry, gauge("g"), 2);
  CHECK(other != first);
  CHECK(numbered(registry, gauge("g"), 3) == other);
  CHECK(numbered(registry, gauge("g"), 0) == first);
  CHECK(registry.live_series("p") == 2);
  CHECK(registry.dropped_series("p") == 2);
  CHECK(record(registry, other, 4));
  CHECK(text(registry).ends_with("\nkoordetector_g{i=\"other\"} 4\n"));
}

TEST_CASE("one owner's budget is not another's") {
  Registry registry;
  registry.set_budget("p", 0);
  auto id = registry.define("q", gauge("g"));
  CHECK(registry.series("q", *id, {}));
  CHECK(registry.live_series("q") == 1);
  CHECK(registry.dropped_series("q") == 0);
}

TEST_CASE("the other series without own labels is not taken for the node's") {
  Registry registry;
  SeriesId node = set(registry, gauge("g"), 1);
  registry.set_budget("p", 1);
  auto other = registry.series("p", *registry.define("p", gauge("g")), container(1));
  REQUIRE(*other != node);
  CHECK(record(registry, *other, 2));
  Exposition read = read_exposition(text(registry));
  CHECK(read.error == "");
  CHECK(read.samples.at("koordetector_g") == 1);
  CHECK(read.samples.at("koordetector_g{series=\"other\"}") == 2);
}

TEST_CASE("points for the other series add up in a counter, the last wins in a gauge") {
  Registry registry;
  registry.set_budget("p", 0);
  SeriesId count = numbered(registry, counter("c"), 0);
  SeriesId level = numbered(registry, gauge("g"), 0);
  Point points[] = {{count, 1}, {level, 1}, {count, 2}, {level, 5}, {count, 4}};
  for (int round = 0; round < 2; ++round) CHECK(registry.record("p", kNow, points)->recorded == 5);
  Exposition read = read_exposition(text(registry));
  CHECK(read.samples.at("koordetector_c{i=\"other\"}") == 7);
  CHECK(read.samples.at("koordetector_g{i=\"other\"}") == 5);
}

TEST_CASE("histograms for the other series add up bucket by bucket") {
  Registry registry;
  registry.set_budget("p", 0);
  SeriesId id = numbered(registry, histogram("h"), 0);
  std::uint64_t cumulative[] = {1, 2, 3};
  HistogramPoint points[] = {{id, cumulative, 3, 1.5}, {id, cumulative, 3, 1}};
  for (int round = 0; round < 2; ++round) CHECK(registry.record_histograms("p", kNow, points));
  Exposition read = read_exposition(text(registry));
  CHECK(read.samples.at("koordetector_h_bucket{i=\"other\",le=\"1\"}") == 4);
  CHECK(read.samples.at("koordetector_h_sum{i=\"other\"}") == 2.5);
  CHECK(read.samples.at("koordetector_h_count{i=\"other\"}") == 6);
}

TEST_CASE("an ended series makes room in the budget") {
  Registry registry;
  registry.set_budget("p", 1);
  registry.end_series(numbered(registry, gauge("g"), 0));
  numbered(registry, gauge("g"), 1);
  CHECK(registry.dropped_series("p") == 0);
  CHECK(registry.live_series("p") == 1);
}

TEST_CASE("an ended other series is created again when it is needed") {
  Registry registry;
  registry.set_budget("p", 0);
  SeriesId old = numbered(registry, gauge("g"), 0);
  registry.end_series(old);
  CHECK(numbered(registry, gauge("g"), 0) != old);
  CHECK(registry.live_series("p") == 0);
}

namespace {

SeriesId long_label(Registry& registry, int i, std::size_t bytes) {
  std::string value = std::to_string(i);
  value.resize(bytes - 1, 'x');  // plus the name with one byte
  return *registry.series("p", *registry.define("p", gauge("g")), {}, {{"i", std::move(value)}});
}

}  // namespace

TEST_CASE("an owner's labels have 256 bytes for each series of its budget, what is beyond is added up") {
  Registry registry;
  registry.set_budget("p", 1000);  // 256,000 bytes
  for (int i = 0; i < 250; ++i) long_label(registry, i, 1024);
  CHECK(registry.live_series("p") == 250);
  CHECK_FALSE(registry.lacks_label_room("p"));
  const SeriesId other = long_label(registry, 250, 1024);
  CHECK(registry.lacks_label_room("p"));
  CHECK(long_label(registry, 251, 1024) == other);
  CHECK(registry.live_series("p") == 250);
  CHECK(registry.dropped_series("p") == 2);
}

TEST_CASE("short labels reach the number of series first, and a small budget has 64 KiB") {
  Registry registry;
  registry.set_budget("p", 60);
  for (int i = 0; i < 60; ++i) long_label(registry, i, 1024);
  CHECK(registry.live_series("p") == 60);
  long_label(registry, 60, 1024);
  CHECK(registry.dropped_series("p") == 1);
  CHECK_FALSE(registry.lacks_label_room("p"));
}

TEST_CASE("an ended series gives the bytes of its labels back") {
  Registry registry;
  registry.set_budget("p", 100);  // 65,536 bytes
  std::vector<SeriesId> ids;
  for (int i = 0; i < 64; ++i) ids.push_back(long_label(registry, i, 1024));
  long_label(registry, 64, 1024);
  CHECK(registry.dropped_series("p") == 1);
  for (int round = 0; round < 3; ++round) {
    registry.end_series(ids[0]);
    ids[0] = long_label(registry, 100 + round, 1024);
  }
  CHECK(registry.dropped_series("p") == 1);
  CHECK(registry.live_series("p") == 64);
}

TEST_CASE("labels that only a predecessor has are no part of its successor's bytes") {
  Registry registry;
  registry.set_budget("p", 100);
  for (int i = 0; i < 64; ++i) long_label(registry, i, 1024);
  registry.begin_handover("p");
  for (int i = 100; i < 164; ++i) long_label(registry, i, 1024);
  CHECK(registry.dropped_series("p") == 0);
  registry.end_handover("p");
  CHECK(registry.live_series("p") == 64);
}
