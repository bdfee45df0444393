// SPDX-License-Identifier: Apache-2.0
#include "core/manager/mirror_plan.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::manager;
using namespace std::chrono_literals;

namespace {

const Time kBegin = from_ns(1'000'000'000'000);
using Names = std::vector<std::string>;

Names written(MirrorPlan& plan, Time now) {
  Names names = plan.next(now);
  for (const std::string& name : names) plan.done(name, true, now);
  return names;
}

}  // namespace

TEST_CASE("the mirrored status lacks what Koordinator's definition lacks, and nothing else") {
  const auto status = mirrored_status(
      R"({"updateTime":"t","nodeMetric":{"nodeUsage":{}},"podsMetric":[{"name":"a","pressure":{"ioStallSeconds":1},)"
      R"("interference":[{}],"qos":"LS"},7],"conditions":[{"type":"Fresh"}],"prodPeakMetric":{}})");
  REQUIRE(status);
  CHECK(
      *status ==
      R"({"updateTime":"t","nodeMetric":{"nodeUsage":{}},"podsMetric":[{"name":"a","qos":"LS"},7],"prodPeakMetric":{}})");
  for (const char* text : {"", "[]", "{", "7"}) {
    CAPTURE(text);
    CHECK_FALSE(mirrored_status(text));
  }
}

TEST_CASE("two reports that differ in their time only have the same content") {
  const auto content = [](const char* time, const char* cpu) {
    return content_of(R"({"updateTime":")" + std::string(time) + R"(","nodeMetric":{"cpu":")" + cpu + "\"}}");
  };
  CHECK(content("2026-01-02T03:04:05Z", "4") == content("2026-01-02T03:04:10Z", "4"));
  CHECK(content("2026-01-02T03:04:05Z", "4") != content("2026-01-02T03:04:05Z", "5"));
  CHECK(content_of("") == content_of(""));
  CHECK(content_of(R"({"updateTime":"unclosed)") == content_of(R"({"updateTime":"other)"));
}

TEST_CASE("a node is written with its first report, and then at most once a minute, and not without a report") {
  MirrorPlan plan;
  plan.report("a", 1);
  CHECK(written(plan, kBegin) == Names{"a"});
  plan.report("a", 2);
  CHECK(written(plan, kBegin + 59s).empty());
  CHECK(written(plan, kBegin + 60s) == Names{"a"});
  CHECK(written(plan, kBegin + 10min).empty());
}

TEST_CASE("changed nodes are written before unchanged ones, and those before that wait longest") {
  MirrorPlan plan({.gap = 1min, .per_second = 2, .open = 16});
  for (const char* name : {"a", "b", "c", "d"}) plan.report(name, 1);
  CHECK(written(plan, kBegin) == Names{"a", "b"});
  CHECK(written(plan, kBegin + 1s) == Names{"c", "d"});
  for (const char* name : {"a", "b", "c"}) plan.report(name, 1);
  plan.report("d", 2);
  CHECK(written(plan, kBegin + 90s) == Names{"d", "a"});
  CHECK(written(plan, kBegin + 91s) == Names{"b", "c"});
}

TEST_CASE("an unchanged node that has waited for two gaps is not passed over for changed ones") {
  MirrorPlan plan({.gap = 1min, .per_second = 1, .open = 16});
  for (const char* name : {"a", "b", "c"}) plan.report(name, 1);
  CHECK(written(plan, kBegin) == Names{"a"});
  CHECK(written(plan, kBegin + 60s) == Names{"b"});
  plan.report("a", 1);
  plan.report("b", 2);
  CHECK(written(plan, kBegin + 120s) == Names{"c"});
  plan.report("c", 2);
  CHECK(written(plan, kBegin + 121s) == Names{"a"});
  CHECK(written(plan, kBegin + 122s) == Names{"b"});
}

TEST_CASE("all nodes together are written at a bounded rate, also after a long pause") {
  MirrorPlan plan({.gap = 1min, .per_second = 50, .open = 1000});
  for (int i = 0; i < 5000; ++i) plan.report("node-" + std::to_string(i), 1);
  CHECK(written(plan, kBegin).size() == 50);
  CHECK(written(plan, kBegin).empty());
  CHECK(written(plan, kBegin + 100ms).size() == 5);
  CHECK(written(plan, kBegin + 1h).size() == 50);
}

TEST_CASE("a limited number of writes are on their way, and a node has one at a time") {
  MirrorPlan plan({.gap = 0s, .per_second = 100, .open = 2});
  for (const char* name : {"a", "b", "c"}) plan.report(name, 1);
  CHECK(plan.next(kBegin) == Names{"a", "b"});
  plan.report("a", 2);
  CHECK(plan.next(kBegin + 1s).empty());
  plan.done("a", true, kBegin + 1s);
  CHECK(plan.next(kBegin + 1s) == Names{"c"});
  plan.forget("b");
  CHECK(plan.next(kBegin + 1s) == Names{"a"});
  plan.done("b", true, kBegin + 1s);
  CHECK(plan.nodes() == 2);
}

TEST_CASE("a refused write is tried again after the gap, without a new report") {
  MirrorPlan plan;
  plan.report("a", 1);
  CHECK(plan.next(kBegin) == Names{"a"});
  plan.done("a", false, kBegin);
  CHECK(plan.next(kBegin + 59s).empty());
  CHECK(plan.next(kBegin + 60s) == Names{"a"});
}
