// SPDX-License-Identifier: Apache-2.0
#include "core/host/store_feed.hpp"

#include "test/core/host/service_fixture.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

struct Feed {
  FakeNode node;
  FakeHost host{node};
  metric::Registry& metrics = host.metrics();
  host::StoreFeed& feed = host.services().feed;
  std::uint32_t usage = *metrics.define("p", {.name = "usage", .unit = "cores", .resolution = 1e-4});
};

}  // namespace

TEST_CASE_FIXTURE(Feed, "a living series is found by its labels in any order") {
  const metric::SeriesId id = *metrics.series("p", usage, {}, {{"a", "1"}, {"b", "2"}});
  CHECK(feed.find("usage", {{"b", "2"}, {"node", "fake-node"}, {"a", "1"}}).series == id);
  CHECK(feed.find("usage", {{"node", "fake-node"}, {"a", "1"}}).series == 0);
  CHECK(feed.find("other", {{"b", "2"}, {"node", "fake-node"}, {"a", "1"}}).series == 0);
}

TEST_CASE_FIXTURE(Feed, "an ended series is found no more, and its successor is") {
  const metric::SeriesId first = *metrics.series("p", usage, {});
  metrics.end_series(first);
  CHECK(feed.find("usage", {{"node", "fake-node"}}).series == 0);
  const metric::SeriesId second = *metrics.series("p", usage, {});
  CHECK(feed.find("usage", {{"node", "fake-node"}}).series == second);
  CHECK(second != first);
}

TEST_CASE_FIXTURE(Feed, "a batch that the cache refuses is counted") {
  const metric::Point point{*metrics.series("p", usage, {}), 1};
  const Time now = host.clock().now();
  REQUIRE(metrics.record("p", now, {&point, 1}));
  CHECK(feed.refused_batches() == 0);
  REQUIRE(metrics.record("p", now - 1h, {&point, 1}));
  CHECK(feed.refused_batches() == 1);
}
