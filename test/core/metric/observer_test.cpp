// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <vector>

#include "fixture.hpp"

using namespace koord;
using namespace koord::metric;
using namespace koord::test;

namespace {

// Records its notifications, as the metric cache would.
struct Listener : SeriesObserver {
  void on_begin(std::uint32_t index, const SeriesView& series) override {
    CHECK(index == index_of(series.id));
    CHECK(names.emplace(index, series.desc.name).second);
  }
  void on_end(std::uint32_t index) override { CHECK(names.erase(index) == 1); }
  void on_points(Time, std::span<const Point> points) override {
    ++batches;
    last.clear();
    for (const Point& point : points) last.emplace_back(names.at(index_of(point.series)), point.value);
  }

  std::map<std::uint32_t, std::string> names;
  std::vector<std::pair<std::string, double>> last;
  int batches = 0;
};

}  // namespace

TEST_CASE("the observer hears of each series and of its end once") {
  Listener listener;
  Registry registry("n1", &listener);
  auto id = registry.define("p", gauge("g"));
  for (int i = 0; i < 2; ++i) CHECK(registry.series("p", *id, container(1)));
  CHECK(listener.names.size() == 1);
  registry.end_subject(1);
  CHECK(listener.names.empty());
}

TEST_CASE("the observer hears of a batch once, without what was skipped") {
  Listener listener;
  Registry registry("n1", &listener);
  SeriesId g = set(registry, gauge("g"), 0), c = set(registry, counter("c"), 0), gone = set(registry, gauge("x"), 0);
  registry.end_series(gone);
  listener.batches = 0;
  Point points[] = {{gone, 1}, {g, std::nan("")}, {c, 3}};
  CHECK(registry.record("p", kNow, points));
  CHECK(listener.batches == 1);
  CHECK(listener.last == std::vector<std::pair<std::string, double>>{{"c", 3}});
}

TEST_CASE("the observer hears nothing of a refused or an empty batch") {
  Listener listener;
  Registry registry("n1", &listener);
  SeriesId c = set(registry, counter("c"), 0);
  listener.batches = 0;
  CHECK_FALSE(record(registry, c, -1));
  CHECK(record(registry, c, std::nan("")));
  CHECK(listener.batches == 0);
}

TEST_CASE("to the observer a histogram is a counter of events and one of their sum") {
  Listener listener;
  Registry registry("n1", &listener);
  auto id = registry.series("p", *registry.define("p", histogram("h")), container(1));
  CHECK(listener.names.size() == 2);
  std::uint64_t cumulative[] = {1, 2, 3};
  HistogramPoint point{*id, cumulative, 3, 1.5};
  CHECK(registry.record_histograms("p", kNow, {&point, 1}));
  CHECK(listener.last == std::vector<std::pair<std::string, double>>{{"h_count", 3}, {"h_sum", 1.5}});
  registry.end_owner("p");
  CHECK(listener.names.empty());
}

TEST_CASE("the observer gets the sum of what went to the other series") {
  Listener listener;
  Registry registry("n1", &listener);
  registry.set_budget("p", 0);
  SeriesId c = set(registry, counter("c"), 0);
  Point points[] = {{c, 1}, {c, 2}};
  CHECK(registry.record("p", kNow, points));
  CHECK(listener.last == std::vector<std::pair<std::string, double>>{{"c", 3}});
}
