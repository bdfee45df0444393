// SPDX-License-Identifier: Apache-2.0
#include "core/report/direct_report.hpp"

#include <doctest/doctest.h>

#include "core/http/gzip.hpp"

using namespace koord;
using namespace koord::report;
using namespace std::chrono_literals;

namespace {

const Time kNow = from_ns(1'000'000'000'000);

DirectReport a_report(std::int64_t cpu_milli = 5000) {
  DirectReport report;
  report.report.status.update_seconds = 1'790'000'000;
  report.report.status.node.amounts = Amounts{cpu_milli, 1 << 30};
  report.report.status.pods = {{"shop", "web-0", "koord-prod", "LS", {Amounts{800, 2ll << 30}}}};
  report.details[{"shop", "web-0"}].pressure.scheduling_delay = 0.5;
  return report;
}

std::string text_of(const DirectBody& body) {
  if (!body.is_gzipped) return body.text;
  const Result<std::string> text = http::gunzip(body.text, 1u << 20);
  REQUIRE(text);
  return *text;
}

}  // namespace

TEST_CASE("the first report is a whole object, packed") {
  const DirectBody body = make_direct_body("node-a", a_report(), nullptr, kNow);
  CHECK(body.is_gzipped);
  CHECK_FALSE(body.is_patch);
  const std::string text = text_of(body);
  CHECK(text.starts_with(
      R"({"apiVersion":"metrics.koordetector.sh/v1alpha1","kind":"NodeMetric","metadata":{"name":"node-a"},"status":{"updateTime":")"));
  CHECK(text.find(R"("pressure":{"schedulingDelaySeconds":5E-1})") != std::string::npos);
}

TEST_CASE("a report states the period of its agent, in whole seconds") {
  DirectReport report = a_report();
  CHECK(text_of(make_direct_body("node-a", report, nullptr, kNow)).find("reportIntervalSeconds") == std::string::npos);
  report.period = 1500ms;
  const std::string text = text_of(make_direct_body("node-a", report, nullptr, kNow));
  CHECK(text.find(R"(","reportIntervalSeconds":2,"nodeMetric":{)") != std::string::npos);
}

TEST_CASE("a report like the accepted one is a patch of its time, at most for a minute") {
  const DirectBody first = make_direct_body("node-a", a_report(), nullptr, kNow);
  DirectReport later = a_report();
  later.report.status.update_seconds += 5;
  const DirectBody second = make_direct_body("node-a", later, first.after, kNow + 5s);
  CHECK(second.is_patch);
  CHECK(second.text == R"({"status":{"updateTime":"2026-09-21T14:13:25Z"}})");
  const DirectBody third = make_direct_body("node-a", later, second.after, kNow + 60s);
  CHECK_FALSE(third.is_patch);
  CHECK_FALSE(make_direct_body("node-a", later, third.after, kNow + 119s).text == third.text);
}

TEST_CASE("a change of usage or of a pod's details is sent whole") {
  const DirectBody first = make_direct_body("node-a", a_report(), nullptr, kNow);
  CHECK_FALSE(make_direct_body("node-a", a_report(5001), first.after, kNow + 5s).is_patch);
  DirectReport stalled = a_report();
  stalled.details[{"shop", "web-0"}].pressure.scheduling_delay = 0.75;
  CHECK_FALSE(make_direct_body("node-a", stalled, first.after, kNow + 5s).is_patch);
}

TEST_CASE("a node's name is escaped") {
  const std::string text = text_of(make_direct_body("a\"b", a_report(), nullptr, kNow));
  CHECK(text.find(R"("name":"a\"b")") != std::string::npos);
}

TEST_CASE("an answer is an object of kind Status or NodeMetric") {
  CHECK(check_direct_answer(R"({"kind":"Status","status":"Success"})"));
  CHECK(check_direct_answer(R"({"kind":"NodeMetric"})"));
  for (const char* text : {"", "OK", "[]", "{}", R"({"kind":7})", R"({"kind":"Pod"})"}) {
    CAPTURE(text);
    CHECK_FALSE(check_direct_answer(text));
  }
}
