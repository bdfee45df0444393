// SPDX-License-Identifier: Apache-2.0
#include "core/kube/events.hpp"

#include "cluster_client.hpp"

using namespace koord;
using namespace koord::kube;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

EventInput evicted(std::string pod) {
  return {{"v1", "Pod", "shop", std::move(pod), "u-1"}, true, "Evicted", "memory is short"};
}

struct EventsFixture : ClusterClient {
  std::size_t answered(const std::string& verb) {
    return cluster
        .requests(R"({"kind":"Event","verb":")" + verb + R"(","answered":true,"after":)" + std::to_string(begin) + "}")
        .size();
  }
  // Returns the server's list from the name of the Event about the pod on; empty if no Event exists.
  std::string event(const std::string& pod) {
    const std::string list = cluster.command("list", R"({"kind":"Event"})");
    const auto at = list.find("\"name\": \"" + pod + ".");
    return at == std::string::npos ? "" : list.substr(at);
  }
  std::string name_of_event(const std::string& pod) {
    const std::string begins_with_name = event(pod).substr(9);
    return begins_with_name.substr(0, begins_with_name.find('"'));
  }

  std::int64_t begin = [this] {
    const auto all = cluster.requests();
    return all.empty() ? -1 : all.back().index;
  }();
  // Shorter periods than in a cluster.
  Events events{loop,
                clock,
                client,
                {"koordetector", "test-node"},
                {.patch_period = 100ms, .refill = 10ms, .first_wait = 50ms, .longest_wait = 200ms}};
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an event becomes an Event object, and its repetition a count") {
  EventsFixture fixture;
  fixture.events.record(evicted("web-0"));
  REQUIRE(fixture.until([&] { return fixture.answered("create") == 1; }));
  fixture.events.record(evicted("web-0"));
  fixture.events.record(evicted("web-0"));
  REQUIRE(fixture.until([&] { return contains(fixture.event("web-0"), "\"count\": 3"); }));
  CHECK(fixture.answered("create") == 1);
  CHECK(fixture.answered("patch") == 1);
  CHECK(fixture.events.problem().empty());
}

TEST_CASE("an Event that the cluster has dropped is created again") {
  EventsFixture fixture;
  fixture.events.record(evicted("web-1"));
  REQUIRE(fixture.until([&] { return fixture.answered("create") == 1; }));
  fixture.cluster.remove("Event", fixture.name_of_event("web-1"), "shop");
  fixture.events.record(evicted("web-1"));
  CHECK(fixture.until([&] { return contains(fixture.event("web-1"), "\"count\": 2"); }));
  CHECK(fixture.answered("create") == 2);
}

TEST_CASE("Events wait for a server that is away") {
  EventsFixture fixture;
  fixture.cluster.fault("error", R"({"kind":"Event","code":503})");
  fixture.events.record(evicted("web-2"));
  REQUIRE(fixture.until([&] { return fixture.answered("create") >= 2; }));
  CHECK(contains(fixture.events.problem(), "503"));
  fixture.cluster.clear_faults();
  CHECK(fixture.until([&] { return !fixture.event("web-2").empty() && fixture.events.problem().empty(); }));
  CHECK(fixture.events.dropped() == 0);
}

TEST_CASE("where Events are forbidden they are dropped and counted") {
  EventsFixture fixture;
  fixture.cluster.fault("deny", R"({"kind":"Event"})");
  fixture.events.record(evicted("web-3"));
  CHECK(fixture.until([&] { return fixture.events.dropped() == 1; }));
  CHECK(contains(fixture.events.problem(), "403"));
}
