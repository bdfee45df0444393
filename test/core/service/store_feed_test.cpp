// SPDX-License-Identifier: Apache-2.0
#include "core/service/store_feed.hpp"

#include "core/log/capture.hpp"
#include "test/core/service/service_fixture.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

struct Feed {
  FakeNode node;
  FakeHost host{node};
  metric::Registry& metrics = host.metrics();
  service::StoreFeed& feed = host.services().feed;
  std::uint32_t usage = *metrics.define("p", {.name = "usage", .unit = "cores", .resolution = 1e-4});

  void record(metric::SeriesId id) {
    const metric::Point point{id, 1};
    REQUIRE(metrics.record("p", host.clock().now(), {&point, 1}));
  }
  // Returns the active series that a query of the metric finds, in the order of their labels.
  std::vector<metric::SeriesId> found() {
    std::vector<metric::SeriesId> ids;
    for (const auto& row : feed.store().samples({"usage", {}, from_ns(1), host.clock().now()}))
      ids.push_back(feed.find(row.tag).series);
    return ids;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Feed, "results of the cache lead back to the current series") {
  const metric::SeriesId a = *metrics.series("p", usage, {}, {{"core", "a"}});
  const metric::SeriesId b = *metrics.series("p", usage, {}, {{"core", "b"}});
  record(a);
  record(b);
  CHECK(found() == std::vector{a, b});
}

TEST_CASE_FIXTURE(Feed, "an ended series' samples lead nowhere, those of its successor to that") {
  const metric::SeriesId first = *metrics.series("p", usage, {});
  record(first);
  metrics.end_series(first);
  CHECK(found() == std::vector<metric::SeriesId>{0});
  const metric::SeriesId second = *metrics.series("p", usage, {});
  CHECK(second != first);
  CHECK(found() == std::vector{second});
}

TEST_CASE_FIXTURE(Feed,
                  "a tag that was given before the series ended is not taken for its successor in the same place") {
  const metric::SeriesId first = *metrics.series("p", usage, {});
  metrics.end_series(first);
  const metric::SeriesId second = *metrics.series("p", usage, {});
  REQUIRE(metric::index_of(first) == metric::index_of(second));
  CHECK(feed.find(first).series == 0);
}

TEST_CASE_FIXTURE(Feed, "a batch that the cache refuses is counted") {
  const metric::Point point{*metrics.series("p", usage, {}), 1};
  const Time now = host.clock().now();
  REQUIRE(metrics.record("p", now, {&point, 1}));
  CHECK(feed.refused_batches() == 0);
  REQUIRE(metrics.record("p", now - 1h, {&point, 1}));
  CHECK(feed.refused_batches() == 1);
}

TEST_CASE_FIXTURE(Feed, "a batch that the cache refuses is logged with its metric and the reason, one line a minute") {
  const metric::Point point{*metrics.series("p", usage, {}), 1};
  const Time now = host.clock().now();
  REQUIRE(metrics.record("p", now, {&point, 1}));
  const log::Capture capture;
  for (int i = 1; i <= 3; ++i) REQUIRE(metrics.record("p", now - std::chrono::seconds(i), {&point, 1}));
  REQUIRE(capture.lines().size() == 1);
  CHECK(capture.contains("a batch is missing in the history: metric 'usage': time "));
  CHECK(capture.contains(" is before the newest row at "));
}
