// SPDX-License-Identifier: Apache-2.0
#include "core/metric/registry.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "fixture.hpp"

using namespace koord;
using namespace koord::metric;
using namespace koord::test;

namespace {

SeriesId series_of(Registry& registry, const Desc& desc, const Subject& subject = {}, Labels own = {}) {
  return *registry.series("p", *registry.define("p", desc), subject, std::move(own));
}

double value_of(const Registry& registry, SeriesId id) {
  double value = -1;
  registry.for_each_series([&](const SeriesView& view) {
    if (view.id == id) value = view.value;
  });
  return value;
}

std::string define_error(const Desc& desc) { return Registry().define("p", desc).error().message(); }

}  // namespace

TEST_CASE("the same description by the same owner gives the same metric") {
  Registry registry;
  CHECK(*registry.define("p", gauge("g")) == *registry.define("p", gauge("g")));
}

TEST_CASE("a metric of another owner or of another description is refused with both named") {
  Registry registry;
  CHECK(registry.define("p", gauge("g")));
  CHECK(registry.define("q", gauge("g")).error().message() ==
        "'q' cannot define metric 'g': 'p' has defined the gauge 'g' otherwise");
  CHECK_FALSE(registry.define("p", counter("g")));
}

TEST_CASE("a name that the lines of a histogram use is refused, whichever is defined first") {
  Registry registry;
  CHECK(registry.define("p", histogram("h")));
  CHECK(registry.define("q", gauge("h_count")).error().message() ==
        "'q' cannot define metric 'h_count': 'p' has defined the histogram 'h', which uses 'h_count'");
  CHECK(registry.define("p", gauge("x_sum")));
  CHECK_FALSE(registry.define("p", histogram("x")));
}

TEST_CASE("host applications are no part of the host: a plugin may measure them by koordlet's names") {
  CHECK(Registry().define("p", gauge("host_application_cpu_usage")));
  CHECK_FALSE(Registry().define("p", gauge("host_app")));
}

TEST_CASE("a bad description is refused in words") {
  CHECK(define_error(gauge("1x")) == "metric '1x': the name does not match [a-zA-Z_][a-zA-Z0-9_]*");
  CHECK(define_error(gauge("host_x")) == "metric 'host_x': this name is reserved for the host's own metrics");
  Desc desc = gauge("g");
  desc.resolution = 0;
  CHECK(define_error(desc) == "metric 'g': its resolution is 0.000000, expected a positive number");
  desc = histogram("h");
  desc.bounds = {1, 1};
  CHECK(define_error(desc) == "metric 'h': its bounds are not in ascending order");
  desc.bounds = {};
  CHECK(define_error(desc) == "metric 'h': it has 0 bounds, expected 1 to 256");
  desc.type = Type::gauge;
  desc.help.assign(1, '\xff');
  CHECK(define_error(desc) == "metric 'h': its help or unit is not UTF-8");
}

TEST_CASE("a series is the same for the same subject and labels in any order") {
  Registry registry;
  SeriesId id = series_of(registry, gauge("g"), container(1), {{"a", "1"}, {"b", "2"}});
  CHECK(id == series_of(registry, gauge("g"), container(1), {{"b", "2"}, {"a", "1"}}));
  CHECK(id != series_of(registry, gauge("g"), container(1), {{"a", "1"}}));
  CHECK(id != series_of(registry, gauge("g"), container(2, "containerd://cd"), {{"a", "1"}, {"b", "2"}}));
}

TEST_CASE("a label that the host sets, comes twice or is malformed is refused") {
  Registry registry;
  auto id = registry.define("p", gauge("g"));
  for (const Labels& bad : std::vector<Labels>{{{"pod_uid", "x"}},
                                               {{"node", "x"}},
                                               {{"le", "1"}},
                                               {{"a", "1"}, {"a", "2"}},
                                               {{"a-b", "1"}},
                                               {{"__a", "1"}},
                                               {{"a", "\xc0\x80"}},
                                               {{"a", std::string(1025, 'x')}},
                                               Labels(17, {"a", "b"})}) {
    CHECK_FALSE(registry.series("p", *id, {}, bad));
  }
}

TEST_CASE("a subject has labels exactly when it is not the node") {
  Registry registry;
  auto id = registry.define("p", gauge("g"));
  CHECK_FALSE(registry.series("p", *id, Subject{3, {}}));
  CHECK_FALSE(registry.series("p", *id, Subject{0, {{"pod_uid", "x"}}}));
  CHECK_FALSE(registry.series("p", *id, Subject{3, {{"colour", "red"}}}));
}

TEST_CASE("a metric of another owner has no series for us") {
  Registry registry;
  auto id = registry.define("p", gauge("g"));
  CHECK(registry.series("q", *id, {}).error().message() == "'q' has defined no metric 1");
  CHECK_FALSE(registry.series("p", 99, {}));
}

TEST_CASE("a batch with one bad point records nothing") {
  Registry registry;
  SeriesId good = series_of(registry, gauge("g"));
  SeriesId count = series_of(registry, counter("c"));
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (Point bad : {Point{good, kInf}, Point{good, 1e19}, Point{count, -1}, Point{0, 1}, Point{good + 1000, 1},
                    Point{good + (1ull << 32), 1}}) {
    Point points[] = {{good, 1}, bad};
    CHECK_FALSE(registry.record("p", kNow, points));
  }
  CHECK(text(registry).empty());
}

TEST_CASE("a refused point is reported with series, metric and reason") {
  Registry registry;
  SeriesId id = series_of(registry, counter("c"));
  CHECK(record(registry, id, -1).error().message() == "series 0/1 of metric 'c' is a counter and got a negative value");
  CHECK(registry.define("q", gauge("d")));
  Point point{id, 1};
  CHECK(registry.record("q", kNow, {&point, 1}).error().message() ==
        "series 0/1 of metric 'c' belongs to 'p', not to 'q'");
  CHECK(registry.record("r", kNow, {&point, 1}).error().message() == "'r' has defined no metric");
}

TEST_CASE("a histogram takes histogram points only, others none") {
  Registry registry;
  SeriesId plain = series_of(registry, gauge("g"));
  SeriesId buckets = series_of(registry, histogram("h"));
  std::uint64_t cumulative[] = {1, 2, 3};
  HistogramPoint points[] = {{buckets, cumulative, 3, 1}, {plain, cumulative, 3, 1}};
  CHECK_FALSE(registry.record_histograms("p", kNow, points));
  CHECK_FALSE(record(registry, buckets, 1));
  CHECK(text(registry).empty());
}

TEST_CASE("a histogram point has a count for every bucket, none below the one before") {
  Registry registry;
  SeriesId id = series_of(registry, histogram("h"));
  std::uint64_t falling[] = {2, 1, 3};
  HistogramPoint points[] = {{id, falling, 3, 1}};
  CHECK_FALSE(registry.record_histograms("p", kNow, points));
  std::uint64_t rising[] = {1, 2, 3};
  points[0] = {id, rising, 2, 1};
  CHECK(registry.record_histograms("p", kNow, points).error().message() ==
        "series 0/1 of metric 'h' expects 3 cumulative counts, none smaller than the one before");
}

TEST_CASE("a point for an ended series is skipped and counted, the rest recorded") {
  Registry registry;
  SeriesId gone = series_of(registry, gauge("g"), container(1));
  SeriesId stays = series_of(registry, gauge("g"));
  registry.end_subject(1);
  Point points[] = {{gone, 1}, {stays, 2}};
  auto summary = registry.record("p", kNow, points);
  CHECK(summary->recorded == 1);
  CHECK(summary->stale == 1);
  CHECK(value_of(registry, stays) == 2);
}

TEST_CASE("an index that is used again has a new generation, so an old id never writes into it") {
  Registry registry;
  SeriesId old = series_of(registry, gauge("g"), container(1));
  registry.end_series(old);
  registry.end_series(old);
  SeriesId fresh = series_of(registry, gauge("g"), container(2));
  REQUIRE(index_of(old) == index_of(fresh));
  CHECK(generation_of(fresh) == generation_of(old) + 1);
  CHECK(record(registry, old, 9)->stale == 1);
  registry.end_series(old);
  CHECK(record(registry, fresh, 1)->recorded == 1);
}

TEST_CASE("a subject that is reported under another handle takes the place of the old one") {
  Registry registry;
  SeriesId old = series_of(registry, gauge("g"), container(1));
  SeriesId fresh = series_of(registry, gauge("g"), container(2));
  CHECK(record(registry, old, 1)->stale == 1);
  CHECK(record(registry, fresh, 1)->recorded == 1);
  CHECK(registry.live_series("p") == 1);
}

TEST_CASE("an ended owner leaves its names to others and its points are refused") {
  Registry registry;
  SeriesId id = series_of(registry, gauge("g"), container(1));
  series_of(registry, histogram("h"));
  CHECK(record(registry, id, 1));
  registry.end_owner("p");
  CHECK(text(registry).empty());
  CHECK(registry.live_series("p") == 0);
  CHECK(record(registry, id, 1)->stale == 1);
  CHECK(registry.define("q", counter("g")));
  CHECK_FALSE(registry.series("p", 1, {}));
}

TEST_CASE("in a handover a series that both have goes on, one that only the old one had ends with it") {
  Registry registry;
  SeriesId kept = series_of(registry, gauge("g"), {}, {{"x", "1"}});
  SeriesId dropped = series_of(registry, gauge("g"), {}, {{"x", "2"}});
  SeriesId of_old_metric = series_of(registry, counter("c"));
  CHECK(record(registry, kept, 5));
  registry.begin_handover("p");
  CHECK(series_of(registry, gauge("g"), {}, {{"x", "1"}}) == kept);
  CHECK(record(registry, dropped, 1)->stale == 0);  // the old session still writes
  registry.end_handover("p");
  CHECK(value_of(registry, kept) == 5);
  CHECK(record(registry, dropped, 1)->stale == 1);
  CHECK(record(registry, of_old_metric, 1)->stale == 1);
  CHECK(registry.live_series("p") == 1);
  CHECK(registry.define("q", counter("c")));  // the name is free now
}

TEST_CASE("in a handover a metric may be described again, which ends the old one's") {
  Registry registry;
  SeriesId old = series_of(registry, gauge("x"));
  registry.begin_handover("p");
  SeriesId fresh = series_of(registry, histogram("x"));
  CHECK(record(registry, old, 1)->stale == 1);
  CHECK_FALSE(registry.define("p", gauge("x")));  // a metric can be redefined only once
  registry.end_handover("p");
  CHECK(fresh != old);
  CHECK(registry.live_series("p") == 1);
  CHECK_FALSE(registry.define("p", counter("x")));  // the handover has ended
}

TEST_CASE("a handover that was given up leaves the old one as it was, or reports its losses") {
  Registry registry;
  SeriesId id = series_of(registry, gauge("g"));
  registry.begin_handover("p");
  CHECK(registry.abandon_handover("p"));
  registry.end_handover("p");
  CHECK(record(registry, id, 1)->stale == 0);
  registry.begin_handover("p");
  CHECK(registry.define("p", counter("g")));
  CHECK_FALSE(registry.abandon_handover("p"));
}

TEST_CASE("in a handover the old one's series take nothing of the new one's budget") {
  Registry registry;
  registry.set_budget("p", 2);
  for (const char* x : {"1", "2"}) series_of(registry, gauge("g"), {}, {{"x", x}});
  registry.begin_handover("p");
  std::vector<SeriesId> fresh;
  for (const char* x : {"3", "4"}) fresh.push_back(series_of(registry, gauge("g"), {}, {{"x", x}}));
  CHECK(registry.live_series("p") == 4);
  CHECK(registry.dropped_series("p") == 0);
  SeriesId other = series_of(registry, gauge("g"), {}, {{"x", "5"}});  // the budget is used up
  CHECK(registry.dropped_series("p") == 1);
  registry.end_handover("p");
  CHECK(registry.live_series("p") == 2);
  for (SeriesId id : fresh) CHECK(record(registry, id, 1)->stale == 0);
  CHECK(record(registry, other, 1)->stale == 0);
  series_of(registry, gauge("g"), {}, {{"x", "6"}});
  CHECK(registry.dropped_series("p") == 2);
}

TEST_CASE("in a handover a series that both have is part of the budget, and so is all when it was given up") {
  Registry registry;
  registry.set_budget("p", 2);
  for (const char* x : {"1", "2"}) series_of(registry, gauge("g"), {}, {{"x", x}});
  registry.begin_handover("p");
  series_of(registry, gauge("g"), {}, {{"x", "1"}});
  series_of(registry, gauge("g"), {}, {{"x", "3"}});
  CHECK(registry.dropped_series("p") == 0);
  series_of(registry, gauge("g"), {}, {{"x", "4"}});
  CHECK(registry.dropped_series("p") == 1);
  CHECK(registry.abandon_handover("p"));
  series_of(registry, gauge("g"), {}, {{"x", "5"}});
  CHECK(registry.dropped_series("p") == 2);
}

TEST_CASE("in a handover the shared series beyond the budget goes on when the new one needs it, too") {
  Registry registry;
  registry.set_budget("p", 1);
  series_of(registry, gauge("g"), {}, {{"x", "1"}});
  SeriesId other = series_of(registry, gauge("g"), {}, {{"x", "2"}});
  registry.begin_handover("p");
  series_of(registry, gauge("g"), {}, {{"x", "1"}});
  CHECK(series_of(registry, gauge("g"), {}, {{"x", "2"}}) == other);
  registry.end_handover("p");
  CHECK(record(registry, other, 1)->stale == 0);
}

TEST_CASE("every live series is visited with its labels") {
  Registry registry("n1");
  series_of(registry, gauge("a"), container(3), {{"x", "y"}});
  int visits = 0;
  registry.for_each_series([&](const SeriesView& view) {
    ++visits;
    CHECK(view.desc.name == "a");
    CHECK(view.owner == "p");
    CHECK(view.node == "n1");
    CHECK(view.subject == 3);
    CHECK(view.subject_labels.front().first == "container_id");
    CHECK(view.own_labels == Labels{{"x", "y"}});
    CHECK(view.value != view.value);
  });
  CHECK(visits == 1);
}
