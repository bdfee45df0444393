// SPDX-License-Identifier: Apache-2.0
#include "core/manager/report_freshness.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::manager;
using namespace std::chrono_literals;

namespace {

const Time kBegin = from_ns(1'000'000'000'000);
using Change = ReportFreshness::Change;
using Changes = std::vector<Change>;

// Adds reports of a node every five seconds. Returns the time of the last report.
Time report_for(ReportFreshness& nodes, Duration time, Time from = kBegin) {
  Time at = from;
  for (; at < from + time; at += 5s) nodes.report("a", at);
  return at - 5s;
}

}  // namespace

TEST_CASE("a node is fresh with its first report, and stale after three of its periods") {
  ReportFreshness nodes;
  nodes.report("a", kBegin);
  CHECK(nodes.changes(kBegin) == Changes{{"a", true, 0}});
  const Time last = report_for(nodes, 1min, kBegin + 5s);
  CHECK(nodes.period_of("a") == 5s);
  CHECK(nodes.changes(last + 15s).empty());
  CHECK(nodes.changes(last + 16s) == Changes{{"a", false, 16}});
  CHECK(nodes.changes(last + 1h).empty());
  nodes.report("a", last + 1h);
  CHECK(nodes.changes(last + 1h) == Changes{{"a", true, 0}});
  CHECK(nodes.period_of("a") == 5s);
}

TEST_CASE("a node with an unknown period is not judged by a short one") {
  ReportFreshness nodes;
  nodes.report("a", kBegin);
  nodes.report("a", kBegin + 1s);
  CHECK(nodes.is_fresh("a", kBegin + 3min));
  CHECK_FALSE(nodes.is_fresh("a", kBegin + 3min + 2s));
  CHECK_FALSE(nodes.is_fresh("unknown", kBegin));
}

TEST_CASE("the longest of the last intervals is the period, and a flood of reports makes none below a second") {
  ReportFreshness nodes;
  const Time last = report_for(nodes, 1min);
  nodes.report("a", last + 12s);
  CHECK(nodes.period_of("a") == 12s);
  for (int i = 0; i < 100; ++i) nodes.report("a", last + 12s);
  CHECK(nodes.period_of("a") == 1s);
}

TEST_CASE("a period that a report states counts at once, longer or shorter, within a second and a minute") {
  ReportFreshness nodes;
  const Time last = report_for(nodes, 1min);
  nodes.report("a", last, 60s);
  CHECK(nodes.period_of("a") == 60s);
  CHECK(nodes.is_fresh("a", last + 180s));
  CHECK_FALSE(nodes.is_fresh("a", last + 181s));
  nodes.report("a", last + 60s, 5s);
  CHECK(nodes.period_of("a") == 5s);
  nodes.report("a", last + 65s, 1ms);
  CHECK(nodes.period_of("a") == 1s);
  nodes.report("a", last + 66s, 1h);
  CHECK(nodes.period_of("a") == 1min);
}

TEST_CASE("a report that states no period has the one that is learned") {
  ReportFreshness nodes;
  nodes.report("a", kBegin, 1s);
  const Time last = report_for(nodes, 1min, kBegin + 5s);
  CHECK(nodes.period_of("a") == 5s);
  CHECK(nodes.is_fresh("a", last + 15s));
}

TEST_CASE("a status states a period of at least a second") {
  CHECK(stated_period(R"({"updateTime":"2026-01-02T03:04:05Z","reportIntervalSeconds":5,"nodeMetric":{}})") == 5s);
  CHECK(stated_period(R"({"reportIntervalSeconds":9223372036854775807})") == 1h);
  for (const char* status : {"", "{}", "[]", R"({"reportIntervalSeconds":0})", R"({"reportIntervalSeconds":-5})",
                             R"({"reportIntervalSeconds":"5"})", R"({"reportIntervalSeconds":null})",
                             R"({"podsMetric":[{"reportIntervalSeconds":5}]})"}) {
    CAPTURE(status);
    CHECK_FALSE(stated_period(status));
  }
}

TEST_CASE("the stated period is read from the begin of a status, however long that is") {
  const std::string begin = R"({"updateTime":"2026-01-02T03:04:05Z","reportIntervalSeconds":5)";
  CHECK(stated_period(begin + R"(,"podsMetric":[)" + std::string(10'000, ' ') + "not read") == 5s);
  const auto behind = [](std::size_t spaces) {
    return "{" + std::string(spaces, ' ') + R"("reportIntervalSeconds":55,"podsMetric":[]})";
  };
  CHECK(stated_period(behind(500)) == 55s);
  for (std::size_t spaces = 990; spaces < 1100; ++spaces) {
    const std::optional<Duration> period = stated_period(behind(spaces));
    CAPTURE(spaces);
    CHECK((!period || period == 55s));
  }
  CHECK_FALSE(stated_period(behind(1100)));
}

TEST_CASE("a new leader judges no node before three periods have passed") {
  ReportFreshness nodes;
  const Time last = report_for(nodes, 1min);
  nodes.lead(last + 1h);
  CHECK(nodes.is_fresh("a", last + 1h + 15s));
  CHECK_FALSE(nodes.is_fresh("a", last + 1h + 16s));
}

TEST_CASE("a node that was removed is forgotten") {
  ReportFreshness nodes;
  nodes.report("a", kBegin);
  nodes.forget("a");
  nodes.forget("b");
  CHECK(nodes.changes(kBegin + 1h).empty());
}
