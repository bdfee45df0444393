// SPDX-License-Identifier: Apache-2.0
#include "core/manager/reported_nodes.hpp"

#include <doctest/doctest.h>

#include "core/base/manual_clock.hpp"
#include "core/http/url.hpp"
#include "core/manager/fresh_condition.hpp"
#include "test/support/loop_here.hpp"

using namespace koord;
using namespace koord::manager;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr aggregated::Version kFirst = 1'700'000'000'000'000;

// Sends reports of one node to the API. It needs no server, because no report is mirrored.
struct Reporting : LoopHere {
  ManualClock clock;
  kube::ConnectionConfig nowhere;
  kube::Client client{loop, workers, clock, nowhere, {}};
  std::shared_ptr<LeaderTime> leader_time = std::make_shared<LeaderTime>();
  std::vector<aggregated::PlainObject> stored;
  ServedMetrics served{
      {loop, clock, leader_time},
      {.on_report = [this](const aggregated::PlainObject& report) { stored.push_back(report); },
       .complete_status = [](std::string sent,
                             std::string_view before) { return with_report_fresh(std::move(sent), before, 0); }}};
  ReportedNodes nodes{{loop, clock, client, served}, false};

  Reporting() {
    leader_time->set(Time::max());
    begin(kFirst);
  }
  void begin(aggregated::Version first) {
    served.begin(first, first + 1000);
    nodes.lead(true);
  }
  http::Response send(http::Method method, const std::string& subresource, std::string body = {}) {
    http::Request request;
    request.method = method;
    request.path = "/apis/metrics.koordetector.sh/v1alpha1/nodemetrics/a" + subresource;
    request.body = std::move(body);
    return served.answer(request, {.user = "admin"});
  }
  // `more`: members of the status.
  void report(const std::string& more = {}) {
    CHECK(send(http::Method::put, "/status",
               R"({"metadata":{"name":"a"},"status":{"updateTime":"2026-01-02T03:04:05Z")" + more + "}}")
              .status < 300);
    nodes.take(stored.back());
  }
  // Sends one report each 5 s, with a check after each.
  void report_for(Duration time) {
    for (Duration passed{}; passed < time; passed += 5s) {
      report();
      nodes.check();
      clock.advance(5s);
    }
  }
  std::string condition() {
    const aggregated::ObjectPtr object = served.find("a");
    return !object ? "none" : lacks_report(object->status().value()) ? "stale" : "fresh";
  }
};

}  // namespace

TEST_CASE_FIXTURE(Reporting, "a node is stale after three periods without a report, and fresh with the next one") {
  served.check({"a"});
  report_for(1min);
  served.check({"a"});
  CHECK(condition() == "fresh");
  clock.advance(10s);
  nodes.check();
  CHECK(condition() == "fresh");
  const auto before = served.newest();
  clock.advance(1s);
  nodes.check();
  nodes.check();
  CHECK(condition() == "stale");
  CHECK(nodes.stale() == 1);
  CHECK(served.newest() == *before + 1);
  CHECK(stored.size() == 12);  // writes of the condition do not count as reports
  report();
  CHECK(condition() == "fresh");
  nodes.check();
  CHECK(nodes.stale() == 0);
  CHECK(served.newest() == *before + 2);
}

TEST_CASE_FIXTURE(Reporting, "a node that begins to report less often stays fresh, if it states its period") {
  served.check({"a"});
  report_for(1min);
  served.check({"a"});
  report(R"(,"reportIntervalSeconds":60)");
  clock.advance(3min);
  nodes.check();
  CHECK(condition() == "fresh");
  clock.advance(1s);
  nodes.check();
  CHECK(condition() == "stale");
}

TEST_CASE_FIXTURE(Reporting, "no node is judged while the epoch fills, nor by reports of the one before") {
  report_for(1min);
  clock.advance(1h);
  nodes.check();
  CHECK(condition() == "fresh");
  served.check({"a"});
  nodes.check();
  CHECK(condition() == "stale");
  begin(kFirst + 1000);
  CHECK(condition() == "none");
  report();
  served.check({"a"});
  nodes.check();
  CHECK(condition() == "fresh");
  clock.advance(16s);
  nodes.check();
  CHECK(condition() == "stale");
}

TEST_CASE_FIXTURE(Reporting, "a report that is stored but not seen yet is not judged") {
  served.check({"a"});
  report_for(1min);
  served.check({"a"});
  clock.advance(1h);
  CHECK(
      send(http::Method::put, "/status", R"({"metadata":{"name":"a"},"status":{"updateTime":"2026-01-02T03:04:06Z"}})")
          .status == 200);
  nodes.check();
  CHECK(condition() == "fresh");
}

TEST_CASE_FIXTURE(Reporting, "an object that was deleted does not come back") {
  report_for(1min);
  served.check({"a"});
  CHECK(send(http::Method::remove, "").status == 200);
  clock.advance(1h);
  nodes.check();
  CHECK(condition() == "none");
  CHECK(nodes.stale() == 0);
}

TEST_CASE_FIXTURE(Reporting, "a mark without a version left is written later") {
  report_for(1min);
  served.check({"a"});
  served.reserve(*served.newest());
  clock.advance(1h);
  nodes.check();
  CHECK(condition() == "fresh");
  served.reserve(*served.newest() + 5);
  nodes.check();
  CHECK(condition() == "stale");
}
