// SPDX-License-Identifier: Apache-2.0
// Watch events, as client-go's reflector and `kubectl get -w` read them.
#include "core/aggregated/watch.hpp"

#include <doctest/doctest.h>

#include "api_fixture.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;
using http::Method;
using State = http::BodyStream::State;

namespace {

struct WatchFixture : ApiFixture {
  std::shared_ptr<http::BodyStream> watch(const std::string& query, http::Headers headers = {}) {
    const http::Response response = get("?watch=true" + query, std::move(headers));
    REQUIRE(response.status == 200);
    REQUIRE(response.stream);
    return response.stream;
  }
  std::string version() { return std::to_string(store.newest()); }
  void label(const std::string& name, const std::string& value) {
    send(Method::patch, "/" + name, R"({"metadata":{"labels":{"pool":)" + value + "}}}",
         {{"Content-Type", "application/merge-patch+json"}});
  }
};

// Returns the events that are available without waiting: "ADDED a, BOOKMARK".
std::string events(http::BodyStream& stream) {
  std::string text = drain(stream), events;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != text.npos; begin = end + 1, end = text.find('\n', begin)) {
    const auto event = json_of(text.substr(begin, end - begin));
    const std::string name = json_text(at(event, "object.metadata"), "name");
    events += (events.empty() ? "" : ", ") + text_at(event, "type") + (name.empty() ? "" : " " + name);
  }
  CHECK(begin == text.size());
  return events;
}

bool has_ended(http::BodyStream& stream) {
  return stream.next([] {}).state == State::ended;
}

}  // namespace

TEST_CASE("a watch without a version begins with the objects that exist") {
  WatchFixture f;
  f.report("a", "{}");
  f.report("b", "{}");
  for (const char* query : {"", "&resourceVersion=0"}) {
    const auto watch = f.watch(query);
    CHECK(events(*watch) == "ADDED a, ADDED b");
    f.report("a", usage_status(query[0]));
    CHECK(events(*watch) == "MODIFIED a");
  }
}

TEST_CASE("a watch from a version has later events only") {
  WatchFixture f;
  f.report("a", "{}");
  f.report("b", "{}");
  const auto watch = f.watch("&resourceVersion=" + f.version());
  CHECK(events(*watch).empty());
  f.report("b", usage_status(1));
  f.report("c", "{}");
  f.send(Method::remove, "/a");
  CHECK(events(*watch) == "MODIFIED b, ADDED c, DELETED a");
}

TEST_CASE("an event has the whole object with its version") {
  WatchFixture f;
  const auto watch = f.watch("&resourceVersion=" + f.version());
  f.report("a", usage_status(7));
  const auto event = json_of(drain(*watch));
  CHECK(text_at(event, "object.metadata.resourceVersion") == f.version());
  CHECK(text_at(event, "object.status.nodeMetric.nodeUsage.resources.cpu") == "7m");
}

TEST_CASE("a watcher that is behind gets the newest state of each object once") {
  WatchFixture f;
  f.report("a", "{}");
  const auto watch = f.watch("&resourceVersion=" + f.version());
  for (int i = 0; i < 10; ++i) {
    f.report("a", usage_status(i));
    f.report("b", usage_status(i));
  }
  f.report("c", "{}");
  f.send(Method::remove, "/c");
  CHECK(events(*watch) == "MODIFIED a, ADDED b");
  f.send(Method::remove, "/b");
  f.report("b", "{}");
  CHECK(events(*watch) == "DELETED b, ADDED b");
}

TEST_CASE("a watch resumes at any version of the epoch") {
  WatchFixture f;
  std::vector<std::string> versions;
  for (int i = 0; i < 5; ++i) {
    versions.push_back(f.version());
    f.report("a", usage_status(i));
  }
  CHECK(events(*f.watch("&resourceVersion=" + versions[0])) == "ADDED a");
  CHECK(events(*f.watch("&resourceVersion=" + versions[3])) == "MODIFIED a");
  CHECK(events(*f.watch("&resourceVersion=" + f.version())).empty());
}

TEST_CASE("a version of an earlier epoch is 410, one of the future 504") {
  WatchFixture f;
  f.report("a", "{}");
  CHECK(f.get("?watch=true&resourceVersion=" + std::to_string(kEpoch - 1)).status == 410);
  CHECK(f.get("?watch=true&resourceVersion=1").status == 410);
  CHECK(f.get("?watch=true&resourceVersion=" + std::to_string(kEpoch + 2)).status == 504);
}

TEST_CASE("initial events end with an annotated bookmark") {
  WatchFixture f;
  f.report("a", "{}");
  const auto watch =
      f.watch("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=");
  const std::string text = drain(*watch);
  const auto bookmark = json_of(text.substr(text.find('\n') + 1));
  CHECK(text_at(bookmark, "type") == "BOOKMARK");
  CHECK(text_at(bookmark, "object.kind") == "NodeMetric");
  CHECK(text_at(bookmark, "object.metadata.resourceVersion") == f.version());
  CHECK(json_text(at(bookmark, "object.metadata.annotations"), "k8s.io/initial-events-end") == "true");
  f.report("a", usage_status(1));
  CHECK(events(*watch) == "MODIFIED a");
}

TEST_CASE("initial events without the options that they need are 422, so that a client lists instead") {
  WatchFixture f;
  CHECK(f.get("?watch=true&sendInitialEvents=true").status == 422);
  CHECK(f.get("?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan").status == 422);
  CHECK(f.get("?watch=true&resourceVersionMatch=NotOlderThan").status == 422);
}

TEST_CASE("objects that change while the initial events are sent come once") {
  WatchFixture f;
  f.report("a", "{}");
  f.report("b", "{}");
  const auto watch = f.watch("");
  CHECK(watch->next([] {}).state == State::piece);  // object a
  f.report("b", usage_status(1));
  f.report("c", "{}");
  CHECK(events(*watch) == "ADDED b, ADDED c");
  f.report("c", usage_status(1));
  f.send(Method::remove, "/c");
  CHECK(events(*watch) == "DELETED c");
}

TEST_CASE("an object that starts or stops to match the selector is added or deleted") {
  WatchFixture f;
  f.report("a", "{}");
  const auto watch = f.watch("&labelSelector=pool%3Dgold&resourceVersion=" + f.version());
  f.label("a", "\"gold\"");
  CHECK(events(*watch) == "ADDED a");
  f.report("a", usage_status(1));
  CHECK(events(*watch) == "MODIFIED a");
  f.label("a", "\"silver\"");
  CHECK(events(*watch) == "DELETED a");
  f.report("a", usage_status(2));
  CHECK(events(*watch).empty());
}

TEST_CASE("a watch of one name has no events of others") {
  WatchFixture f;
  for (const std::string target : {"?watch=true&fieldSelector=metadata.name%3Da", "/a?watch=true"}) {
    const auto watch = f.get(target).stream;
    REQUIRE(watch);
    drain(*watch);
    f.report("a", usage_status(static_cast<int>(target.size())));
    f.report("b", usage_status(static_cast<int>(target.size())));
    CHECK(events(*watch) == (target[0] == '?' ? "ADDED a" : "MODIFIED a"));
  }
}

TEST_CASE("allowed bookmarks are sent in a minute without events, and the watch ends at its timeout") {
  WatchFixture f;
  const auto watch = f.watch("&allowWatchBookmarks=true&timeoutSeconds=150&resourceVersion=" + f.version());
  const auto plain = f.watch("&timeoutSeconds=150&resourceVersion=" + f.version());
  CHECK(events(*watch).empty());
  f.clock.advance(61s);
  CHECK(events(*watch) == "BOOKMARK");
  CHECK(events(*watch).empty());
  CHECK(events(*plain).empty());
  f.clock.advance(61s);
  CHECK(events(*watch) == "BOOKMARK");
  f.clock.advance(30s);
  CHECK(has_ended(*watch));
  CHECK(has_ended(*plain));
}

TEST_CASE("a watch of a server that is no longer the leader ends") {
  WatchFixture f;
  f.report("a", "{}");
  const auto watch = f.watch("&resourceVersion=" + f.version());
  bool woken = false;
  CHECK(watch->next([&] { woken = true; }).state == State::waiting);
  f.store.close();
  CHECK(woken);
  CHECK(has_ended(*watch));
}

TEST_CASE("a watch that is behind the kept deletions gets an error and ends") {
  ManualClock clock;
  aggregated::Store store(kEpoch, {.deleted = 1});
  store.begin_serving();
  aggregated::WatchCounters counters;
  aggregated::Watch watch({store, clock, counters}, {}, kEpoch, "x");
  for (const char* name : {"a", "b"}) {
    const auto object = aggregated::Object::make({name, "u"}, {}, {});
    store.put(object, nullptr);
    store.remove(object);
  }
  const auto error = json_of(drain(watch));
  CHECK(text_at(error, "type") == "ERROR");
  CHECK(text_at(error, "object.reason") == "Expired");
  CHECK(text_at(error, "object.code") == "410");
  CHECK(has_ended(watch));
  CHECK(counters.expired == 1);
}

TEST_CASE("a watch as a table has the columns once, and one of metadata no status") {
  WatchFixture f;
  f.report("a", usage_status(1));
  f.report("b", usage_status(2));
  const auto watch = f.watch("", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  const std::string text = drain(*watch);
  const auto first = json_of(text.substr(0, text.find('\n'))), second = json_of(text.substr(text.find('\n') + 1));
  CHECK(json_list(at(first, "object"), "columnDefinitions").size() == 5);
  CHECK(at(second, "object.columnDefinitions").is_null());
  CHECK(json_list(at(second, "object"), "rows").size() == 1);
  const auto metadata = f.watch("", {{"Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}});
  CHECK(drain(*metadata).find("nodeUsage") == std::string::npos);
}

TEST_CASE("a watch of metadata only has no events of reports") {
  WatchFixture f;
  f.report("a", "{}");
  const auto watch = f.watch("&resourceVersion=" + f.version(),
                             {{"Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}});
  f.report("a", usage_status(1));
  CHECK(events(*watch).empty());
  f.label("a", "\"gold\"");
  f.report("b", "{}");
  CHECK(events(*watch) == "ADDED a, ADDED b");
  f.send(Method::remove, "/a");
  CHECK(events(*watch) == "DELETED a");
}

TEST_CASE("watches are counted") {
  WatchFixture f;
  {
    const auto watch = f.watch("");
    CHECK(f.api.counters().watches.open == 1);
    watch->on_slow_peer();
  }
  CHECK(f.api.counters().watches.open == 0);
  CHECK(f.api.counters().watches.slow == 1);
}
