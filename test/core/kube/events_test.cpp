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

struct Teller : ClusterClient {
  std::size_t answered(const std::string& verb) {
    return cluster
        .requests(R"({"kind":"Event","verb":")" + verb + R"(","answered":true,"after":)" + std::to_string(begin) + "}")
        .size();
  }
  // The Event about the pod as the server has it; empty: none.
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
  // Faster than a cluster would have it.
  Events events{loop,
                clock,
                client,
                {"koordetector", "test-node"},
                {.patch_period = 100ms, .refill = 10ms, .first_wait = 50ms, .longest_wait = 200ms}};
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an event becomes an Event object, and its repetition a count") {
  Teller teller;
  teller.events.tell(evicted("web-0"));
  REQUIRE(teller.until([&] { return teller.answered("create") == 1; }));
  teller.events.tell(evicted("web-0"));
  teller.events.tell(evicted("web-0"));
  REQUIRE(teller.until([&] { return contains(teller.event("web-0"), "\"count\": 3"); }));
  CHECK(teller.answered("create") == 1);
  CHECK(teller.answered("patch") == 1);
  CHECK(teller.events.problem().empty());
}

TEST_CASE("an Event that the cluster has dropped is created anew") {
  Teller teller;
  teller.events.tell(evicted("web-1"));
  REQUIRE(teller.until([&] { return teller.answered("create") == 1; }));
  teller.cluster.remove("Event", teller.name_of_event("web-1"), "shop");
  teller.events.tell(evicted("web-1"));
  CHECK(teller.until([&] { return contains(teller.event("web-1"), "\"count\": 2"); }));
  CHECK(teller.answered("create") == 2);
}

TEST_CASE("Events wait for a server that is away") {
  Teller teller;
  teller.cluster.fault("error", R"({"kind":"Event","code":503})");
  teller.events.tell(evicted("web-2"));
  REQUIRE(teller.until([&] { return teller.answered("create") >= 2; }));
  CHECK(contains(teller.events.problem(), "503"));
  teller.cluster.clear_faults();
  CHECK(teller.until([&] { return !teller.event("web-2").empty() && teller.events.problem().empty(); }));
  CHECK(teller.events.dropped() == 0);
}

TEST_CASE("where Events are forbidden they are dropped and counted") {
  Teller teller;
  teller.cluster.fault("deny", R"({"kind":"Event"})");
  teller.events.tell(evicted("web-3"));
  CHECK(teller.until([&] { return teller.events.dropped() == 1; }));
  CHECK(contains(teller.events.problem(), "403"));
}
