// SPDX-License-Identifier: Apache-2.0
#include "core/manager/served_metrics.hpp"

#include <doctest/doctest.h>

#include "core/base/manual_clock.hpp"
#include "core/http/url.hpp"

using namespace koord;
using namespace koord::manager;
using namespace std::chrono_literals;

namespace {

constexpr aggregated::Version kFirst = 1'700'000'000'000'000;
const std::string kPath = "/apis/metrics.koordetector.sh/v1alpha1/nodemetrics";

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct Served {
  explicit Served(ServedMetrics::Options options = {})
      : served(ServedMetrics::Parts{loop, clock, leader_time}, std::move(options)) {}

  void lead(aggregated::Version first = kFirst) {
    leader_time->set(clock.now() + 4s);
    served.begin(first, first + 1000);
  }
  http::Response send(http::Method method, const std::string& target, std::string body = {}) {
    auto parsed = http::parse_target(target).value();
    http::Request request;
    request.method = method;
    request.path = std::move(parsed.path);
    request.query = std::move(parsed.query);
    request.body = std::move(body);
    return served.answer(request, {.user = "admin"});
  }
  unsigned report(const std::string& name, const std::string& cpu = "1") {
    return send(http::Method::put, kPath + "/" + name + "/status",
                R"({"kind":"NodeMetric","apiVersion":"metrics.koordetector.sh/v1alpha1","metadata":{"name":")" + name +
                    R"("},"status":{"nodeMetric":{"nodeUsage":{"resources":{"cpu":")" + cpu + R"("}}}}})")
        .status;
  }
  unsigned get(const std::string& name) { return send(http::Method::get, kPath + "/" + name).status; }

  event::Loop loop;
  ManualClock clock;
  std::shared_ptr<LeaderTime> leader_time = std::make_shared<LeaderTime>();
  ServedMetrics served;
};

// Returns all pieces that are available without waiting.
std::string pieces_of(http::BodyStream& stream) {
  std::string text;
  while (true) {
    const auto piece = stream.next([] {});
    if (piece.state != http::BodyStream::State::piece) return text;
    text += piece.head;
    if (piece.body) text += *piece.body;
  }
}

}  // namespace

TEST_CASE("a replica that does not lead refuses all but health, and names the leader") {
  Served s;
  s.served.set_leader("10.0.0.7:9443");
  const http::Response refused = s.send(http::Method::get, kPath);
  CHECK(refused.status == 503);
  CHECK(has(refused.body, "the leader is at 10.0.0.7:9443"));
  CHECK(refused.headers == http::Headers{{"Retry-After", "1"}, {"X-Koordetector-Leader", "10.0.0.7:9443"}});
  CHECK(s.report("a") == 503);
  CHECK(s.send(http::Method::get, "/healthz").status == 200);
  CHECK(s.send(http::Method::get, "/readyz").status == 503);
}

TEST_CASE("a new leader takes reports at once, and serves reads when all nodes have reported") {
  Served s;
  s.lead();
  CHECK(s.report("a") == 201);
  s.served.check({"a", "b"});
  CHECK(s.get("a") == 503);
  CHECK(s.send(http::Method::get, "/readyz").status == 503);
  CHECK(s.report("b") == 201);
  s.served.check({"a", "b"});
  CHECK(s.get("a") == 200);
  CHECK(s.send(http::Method::get, "/readyz").status == 200);
}

TEST_CASE("a node that does not report delays reads for the fill time at most") {
  Served s({.fill = 3s});
  s.lead();
  s.report("a");
  s.served.check({});
  CHECK(s.served.is_filling());
  s.clock.advance(3s);
  s.served.check({"a", "b"});
  CHECK_FALSE(s.served.is_filling());
  CHECK(s.get("a") == 200);
  CHECK(s.get("b") == 404);
}

TEST_CASE("a leader answers nothing when its time is over, even if it does not know yet") {
  Served s;
  s.lead();
  s.report("a");
  s.served.check({"a"});
  s.clock.advance(4s);
  CHECK(s.get("a") == 503);
  CHECK(s.report("a", "2") == 503);
  CHECK(s.served.newest() == kFirst + 1);
}

TEST_CASE("each epoch begins empty and above the last one, which ends its watches") {
  Served s;
  s.lead();
  s.report("a");
  s.served.check({"a"});
  const http::Response watch = s.send(http::Method::get, kPath + "?watch=true");
  REQUIRE(watch.stream);
  CHECK(has(pieces_of(*watch.stream), R"("type":"ADDED")"));
  CHECK(s.served.end() == kFirst + 1);
  CHECK_FALSE(s.served.end().has_value());
  CHECK(watch.stream->next([] {}).state == http::BodyStream::State::ended);
  s.lead(kFirst + 1000);
  CHECK(s.served.objects().objects == 0);
  CHECK(s.report("a") == 201);
  CHECK(s.served.newest() == kFirst + 1001);
}

TEST_CASE("no version above the reserved ones is given out") {
  Served s;
  s.lead();
  s.served.reserve(kFirst + 1);
  CHECK(s.report("a") == 201);
  CHECK(s.report("a", "2") == 503);
  s.served.reserve(kFirst + 2);
  CHECK(s.report("a", "2") == 200);
}

TEST_CASE("the object of a node that does not exist is removed after a minute") {
  Served s;
  s.lead();
  s.report("a");
  s.report("gone");
  s.served.check({"a"});
  s.clock.advance(59s);
  s.leader_time->set(Time::max());
  s.served.check({"a"});
  s.clock.advance(1s);
  s.served.check({});
  CHECK(s.served.objects().objects == 2);
  s.served.check({"a"});
  CHECK(s.served.objects().objects == 1);
}

TEST_CASE("a node that is known in time keeps its object") {
  Served s;
  s.lead();
  s.leader_time->set(Time::max());
  s.report("new");
  s.served.check({"a"});
  s.clock.advance(30s);
  s.served.check({"a", "new"});
  s.clock.advance(40s);
  s.served.check({"a"});
  CHECK(s.served.objects().objects == 1);
}

TEST_CASE("stored reports are passed on") {
  std::vector<std::string> reported;
  Served s({.on_report = [&](const aggregated::PlainObject& report) { reported.push_back(report.object->name()); }});
  s.lead();
  s.report("a");
  CHECK(reported == std::vector<std::string>{"a"});
}
