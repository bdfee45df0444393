// SPDX-License-Identifier: Apache-2.0
#include "core/kube/event_aggregator.hpp"

#include <doctest/doctest.h>

#include "core/json/scanner.hpp"

using namespace koord;
using namespace koord::kube;
using namespace std::chrono_literals;
using Outcome = EventAggregator::Outcome;

namespace {

constexpr std::int64_t kWall = 1'784'875'965'000'000'000;

EventInput evicted(std::string pod, std::string message = "memory is short") {
  return {{"v1", "Pod", "shop", std::move(pod), "uid-1"}, true, "Evicted", std::move(message)};
}

struct Aggregation {
  explicit Aggregation(const EventAggregator::Limits& limits = {})
      : aggregator({"koordetector", "node-1"}, limits, 7) {}

  void add(EventInput input, int times = 1) {
    for (int i = 0; i < times; ++i) aggregator.add(input, now, kWall + (now - begin).count());
  }
  // Makes all writes that are due. Returns the number of requests.
  int write_all() {
    int requests = 0;
    for (; (write = aggregator.next(now)); ++requests, last = write) aggregator.ended(Outcome::written, now);
    return requests;
  }
  int count() const { return std::stoi(std::string(**json_member(last->body, "count"))); }

  Time begin = from_ns(kWall), now = begin;
  EventAggregator aggregator;
  std::optional<EventAggregator::Write> write, last;
};

}  // namespace

TEST_CASE("an Event is created as core/v1 wants it") {
  Aggregation it;
  it.add(evicted("web-0", "needs \"1Gi\""));
  auto write = it.aggregator.next(it.now);
  REQUIRE(write);
  CHECK(write->create);
  CHECK(write->name_space == "shop");
  CHECK(write->name.starts_with("web-0."));
  CHECK(
      write->body ==
      R"({"apiVersion":"v1","kind":"Event","metadata":{"name":")" + write->name +
          R"(","namespace":"shop"},"involvedObject":{"apiVersion":"v1","kind":"Pod","namespace":"shop","name":"web-0","uid":"uid-1"},)"
          R"("reason":"Evicted","message":"needs \"1Gi\"","type":"Warning","source":{"component":"koordetector","host":"node-1"},)"
          R"("reportingComponent":"koordetector","reportingInstance":"node-1","firstTimestamp":"2026-07-24T06:52:45Z",)"
          R"("lastTimestamp":"2026-07-24T06:52:45Z","count":1})");
}

TEST_CASE("an Event about what belongs to no namespace is in the default one") {
  Aggregation it;
  it.add({{"v1", "Node", "", "node-1", "node-1"}, false, "Suppressed", "BE pods got fewer CPUs"});
  auto write = it.aggregator.next(it.now);
  CHECK(write->name_space == "default");
  CHECK(write->body.find(R"("involvedObject":{"apiVersion":"v1","kind":"Node","name":"node-1","uid":"node-1"})") !=
        std::string::npos);
  CHECK(write->body.find(R"("type":"Normal")") != std::string::npos);
}

TEST_CASE("a repeated event is a count in a patch, half a minute later at the earliest") {
  Aggregation it;
  it.add(evicted("web-0"));
  CHECK(it.write_all() == 1);
  const std::string name = it.last->name;
  it.now += 5s;
  it.add(evicted("web-0"), 99);
  CHECK(it.write_all() == 0);
  CHECK(it.aggregator.due(it.now) == it.begin + 30s);
  it.now = it.begin + 30s;
  CHECK(it.write_all() == 1);
  CHECK_FALSE(it.last->create);
  CHECK(it.last->name == name);
  CHECK(it.last->body == R"({"count":100,"lastTimestamp":"2026-07-24T06:52:50Z"})");
  CHECK(it.aggregator.due(it.now) == Time::max());
}

TEST_CASE("a difference in object, type, reason or message is another Event") {
  Aggregation it;
  EventInput other_type = evicted("web-0"), other_reason = evicted("web-0"), other_pod = evicted("web-0");
  other_type.warning = false;
  other_reason.reason = "Killed";
  other_pod.about.uid = "uid-2";
  for (EventInput& input :
       std::vector{evicted("web-0"), other_type, other_reason, other_pod, evicted("web-1"), evicted("web-0", "x")})
    it.add(input);
  CHECK(it.aggregator.size() == 6);
  CHECK(it.write_all() == 6);
}

TEST_CASE("an event that has not happened for ten minutes begins a new Event") {
  Aggregation it;
  it.add(evicted("web-0"));
  it.write_all();
  const std::string name = it.last->name;
  it.now += 11min;
  it.add(evicted("web-0"));
  CHECK(it.write_all() == 1);
  CHECK(it.last->create);
  CHECK(it.last->name != name);
}

TEST_CASE("at most ten requests at once and ten per minute are sent, whatever happens") {
  Aggregation it;
  for (int i = 0; i < 200; ++i) it.add(evicted("web-" + std::to_string(i)));
  CHECK(it.write_all() == 10);
  int requests = 0;
  for (const Time end = it.now + 5min; it.now < end;) {
    const Time due = it.aggregator.due(it.now);
    REQUIRE(due > it.now);
    it.now = due;
    const int now = it.write_all();
    REQUIRE(now > 0);
    requests += now;
  }
  CHECK(requests >= 50);
  CHECK(requests <= 51);
}

TEST_CASE("if more events differ than are kept, written ones make room and the rest are counted as dropped") {
  Aggregation it({.different = 8});
  for (int i = 0; i < 20; ++i) it.add(evicted("web-" + std::to_string(i)));
  CHECK(it.aggregator.size() == 8);
  CHECK(it.aggregator.dropped() == 12);
  CHECK(it.write_all() == 8);
  it.add(evicted("new"));
  CHECK(it.aggregator.size() == 8);
  CHECK(it.aggregator.dropped() == 12);
  CHECK(it.write_all() == 1);
}

TEST_CASE("one request runs at a time") {
  Aggregation it;
  it.add(evicted("web-0"));
  it.add(evicted("web-1"));
  REQUIRE(it.aggregator.next(it.now));
  CHECK_FALSE(it.aggregator.next(it.now));
  CHECK(it.aggregator.due(it.now) == Time::max());
}

TEST_CASE("events while a request runs are in the next one") {
  Aggregation it;
  it.add(evicted("web-0"));
  REQUIRE(it.aggregator.next(it.now));
  it.add(evicted("web-0"), 4);
  it.aggregator.ended(Outcome::written, it.now);
  it.now += 30s;
  CHECK(it.write_all() == 1);
  CHECK(it.count() == 5);
}

TEST_CASE("failed requests are repeated later, under the same name, and no backlog outlives ten minutes") {
  Aggregation it;
  it.add(evicted("web-0"), 3);
  auto first = it.aggregator.next(it.now);
  it.aggregator.ended(Outcome::failed, it.now);
  it.now = it.aggregator.due(it.now);
  CHECK(it.now <= it.begin + 10s);
  auto second = it.aggregator.next(it.now);
  REQUIRE(second);
  CHECK(second->create);
  CHECK(second->name == first->name);
  it.aggregator.ended(Outcome::failed, it.now, 2min);
  CHECK(it.aggregator.due(it.now) >= it.now + 2min);
  it.now += 11min;
  CHECK_FALSE(it.aggregator.next(it.now));
  CHECK(it.aggregator.dropped() == 3);
  CHECK(it.aggregator.size() == 0);
}

TEST_CASE("an Event that exists after an unanswered creation is patched") {
  Aggregation it;
  it.add(evicted("web-0"), 2);
  it.aggregator.next(it.now);
  it.aggregator.ended(Outcome::failed, it.now);
  it.now += 10s;
  it.aggregator.next(it.now);
  it.aggregator.ended(Outcome::exists, it.now);
  CHECK(it.write_all() == 1);
  CHECK_FALSE(it.last->create);
  CHECK(it.count() == 2);
}

TEST_CASE("an Event that the cluster has forgotten is created again") {
  Aggregation it;
  it.add(evicted("web-0"));
  it.write_all();
  const std::string name = it.last->name;
  it.now += 1min;
  it.add(evicted("web-0"));
  it.aggregator.next(it.now);
  it.aggregator.ended(Outcome::gone, it.now);
  CHECK(it.write_all() == 1);
  CHECK(it.last->create);
  CHECK(it.last->name != name);
  CHECK(it.count() == 2);
}

TEST_CASE("a refused Event is dropped, and others wait for as long as is asked") {
  Aggregation it;
  it.add(evicted("web-0"));
  it.add(evicted("web-1"));
  it.aggregator.next(it.now);
  it.aggregator.ended(Outcome::refused, it.now, 5min);
  CHECK(it.aggregator.dropped() == 1);
  CHECK(it.aggregator.size() == 1);
  CHECK(it.aggregator.due(it.now) == it.now + 5min);
}

TEST_CASE("long and broken text is changed to text that the server accepts") {
  Aggregation it;
  EventInput input = evicted(std::string(253, 'n'), std::string(5000, 'm') + "\xff");
  input.reason = "R\xff";
  it.add(input);
  auto write = it.aggregator.next(it.now);
  CHECK(write->name.size() == 253);
  CHECK(JsonScanner(**json_member(write->body, "message")).string()->size() == 1024);
  CHECK(**json_member(write->body, "reason") == "\"R?\"");
}
