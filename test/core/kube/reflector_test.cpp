// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "reflector_talk.hpp"

using namespace koord;
using namespace koord::kube;
using namespace koord::test;
using namespace std::chrono_literals;
using Do = Reflector::Step::Do;
using State = Health::State;

TEST_CASE("a reflector lists what the server has at hand, at once") {
  ReflectorTalk talk;
  CHECK(talk.step() == Do::list);
  CHECK(talk.reflector.call().verb == Verb::list);
  CHECK(talk.target() == "/api/v1/nodes?fieldSelector=metadata.name%3Da&limit=500&resourceVersion=0");
  CHECK(talk.step() == Do::wait);
  CHECK(talk.last.at == Time::max());
  CHECK(talk.state() == State::starting);
}

TEST_CASE("a request for the newest list names no version, so the list comes in pages") {
  const Reflector reflector({.path = "/api/v1/persistentvolumeclaims", .newest = true}, {}, Time{}, 7);
  CHECK(reflector.call().target == "/api/v1/persistentvolumeclaims?limit=500");
}

TEST_CASE("the pages of a list are asked for one after the other, without a version") {
  ReflectorTalk talk;
  talk.step();
  auto first = talk.list("5", "token/1=");
  CHECK((first && first->first && !first->last));
  CHECK(talk.step() == Do::list);
  CHECK(talk.target() == "/api/v1/nodes?fieldSelector=metadata.name%3Da&limit=500&continue=token%2F1%3D");
  auto second = talk.list("5");
  CHECK((second && !second->first && second->last));
  CHECK(talk.state() == State::current);
  CHECK(talk.reflector.health().lists == 1);
}

TEST_CASE("a list with endless pages is given up after a thousand, and restarted after five minutes") {
  ReflectorTalk talk;
  int pages = 0;
  while (talk.step() == Do::list && pages < 5000) {
    talk.list("5", "more");
    ++pages;
  }
  CHECK(pages == 1001);
  CHECK(talk.problem() == "a list of more than 1000 pages");
  REQUIRE(talk.step_after_wait() == Do::list);
  CHECK(talk.waited >= 4min);
  CHECK_FALSE(talk.asks_for("continue="));
}

TEST_CASE("a watch begins from the list's version, with bookmarks, for ten to twenty minutes") {
  ReflectorTalk talk;
  talk.watching();
  const Call call = talk.reflector.call();
  CHECK(call.verb == Verb::watch);
  CHECK(call.target.starts_with(
      "/api/v1/nodes?fieldSelector=metadata.name%3Da&watch=true&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds="));
  const int timeout = std::stoi(call.target.substr(call.target.rfind('=') + 1));
  CHECK(timeout >= 600);
  CHECK(timeout <= 1200);
}

TEST_CASE("changes are handed on and move the version from which the next watch begins") {
  ReflectorTalk talk;
  talk.watching();
  auto line = talk.line("MODIFIED", "8");
  REQUIRE(line.change);
  CHECK(line.change->kind == WatchEvent::Kind::modified);
  CHECK(line.change->object.name == "a");
  CHECK_FALSE(line.ends);
  talk.now += 21min;
  talk.watch_ended();
  CHECK(talk.step() == Do::watch);
  CHECK(talk.asks_for("&resourceVersion=8&"));
}

TEST_CASE("a bookmark moves the version, confirms the objects, and changes nothing") {
  ReflectorTalk talk;
  talk.watching();
  talk.now += 60s;
  CHECK_FALSE(talk.line("BOOKMARK", "31").change);
  CHECK(talk.reflector.health().last_confirmed == talk.now);
  talk.now += 21min;
  talk.watch_ended();
  talk.step();
  CHECK(talk.asks_for("&resourceVersion=31&"));
}

TEST_CASE("a watch that the server ends before its time is begun again within five seconds, and is no failure") {
  ReflectorTalk talk;
  talk.watching();
  talk.now += 30s;
  talk.watch_ended();
  CHECK(talk.step_after_wait() == Do::watch);
  CHECK(talk.waited <= 5s);
  CHECK(talk.state() == State::current);
  CHECK(talk.reflector.health().failures == 0);
}

TEST_CASE("watches begin a second apart, however fast a server ends them with changes") {
  ReflectorTalk talk;
  talk.watching();
  for (int version = 6; version < 30; ++version) {
    const Time began = talk.now;
    talk.line("MODIFIED", std::to_string(version));
    talk.watch_ended();
    REQUIRE(talk.step_after_wait() == Do::watch);
    CHECK(talk.now - began >= 1s);
  }
}

TEST_CASE("a watch that ends at once and has brought nothing is a failure") {
  ReflectorTalk talk;
  talk.watching();
  Duration longest{};
  for (int i = 0; i < 20; ++i) {
    talk.watch_ended();
    CHECK(talk.problem() == "the watch ended as soon as it had begun");
    REQUIRE(talk.step_after_wait() == Do::watch);
    longest = std::max(longest, talk.waited);
  }
  CHECK(talk.reflector.health().failures == 20);
  CHECK(longest > 1min);
}

TEST_CASE("a version that has expired is listed again at once, not older than it was") {
  for (bool as_event : {false, true}) {
    CAPTURE(as_event);
    ReflectorTalk talk;
    talk.watching();
    if (as_event)
      CHECK(talk.error_line(410).ends);
    else
      talk.watch_refused(410);
    CHECK(talk.step() == Do::list);
    CHECK(talk.asks_for("&resourceVersion=5&resourceVersionMatch=NotOlderThan"));
  }
}

TEST_CASE("versions that expire again and again are listed again later and later") {
  ReflectorTalk talk;
  talk.watching();
  Duration total{};
  for (int i = 0; i < 10; ++i) {
    talk.watch_refused(410);
    REQUIRE(talk.step_after_wait() == Do::list);
    total += std::exchange(talk.waited, {});
    talk.list("5");
    REQUIRE(talk.step() == Do::watch);
  }
  CHECK(total > 5min);
}

TEST_CASE("versions that repeatedly expire right after a change are listed again after increasing waits") {
  ReflectorTalk talk;
  talk.watching();
  Duration total{};
  for (int i = 0; i < 10; ++i) {
    CHECK_FALSE(talk.line("BOOKMARK", "6").ends);
    CHECK(talk.state() == Health::State::current);
    CHECK(talk.error_line(410).ends);
    REQUIRE(talk.step_after_wait() == Do::list);
    total += std::exchange(talk.waited, {});
    talk.list("5");
    REQUIRE(talk.step() == Do::watch);
  }
  CHECK(total > 5min);
}

TEST_CASE("a list with an expired next page is restarted") {
  ReflectorTalk talk;
  talk.step();
  talk.list("5", "token");
  talk.step();
  talk.list_refused(410, R"({"kind":"Status","reason":"Expired","metadata":{"continue":"other"}})");
  CHECK(talk.step() == Do::list);
  CHECK_FALSE(talk.asks_for("continue="));
  CHECK((talk.list("9")->first));
}

TEST_CASE("a page that failed is asked for again") {
  ReflectorTalk talk;
  talk.step();
  talk.list("5", "token");
  talk.step();
  talk.list_lost();
  CHECK(talk.step_after_wait() == Do::list);
  CHECK(talk.asks_for("continue=token"));
}

TEST_CASE("a server that does not have the version yet is asked for what is true now") {
  for (unsigned refusal : {410u, 504u, 400u}) {
    CAPTURE(refusal);
    ReflectorTalk talk;
    talk.watching();
    talk.watch_refused(410);
    talk.step();
    talk.list_refused(refusal,
                      R"({"kind":"Status","reason":"Timeout","message":"Too large resource version: 5, current: 3"})");
    REQUIRE(talk.step_after_wait() == Do::list);
    CHECK_FALSE(talk.asks_for("resourceVersion"));
    talk.list("3");
    REQUIRE(talk.step() == Do::watch);
    CHECK(talk.asks_for("&resourceVersion=3&"));
  }
}

TEST_CASE("a line that is not an event ends the watch, and everything is listed again") {
  ReflectorTalk talk;
  talk.watching();
  CHECK(talk.reflector.line(talk.now, "{\"type\":").ends);
  CHECK(talk.problem().starts_with("not the JSON"));
  CHECK(talk.step_after_wait() == Do::list);
}

TEST_CASE(
    "a line that is too long to be skipped ends the watch, and everything is listed again: the next watch would begin with it") {
  ReflectorTalk talk;
  talk.watching();
  talk.watch_line_too_long();
  CHECK(talk.problem().starts_with("found a line of more than 9 bytes"));
  CHECK(talk.step_after_wait() == Do::list);
}

TEST_CASE("after an error that passes a watch goes on where it was, after any other everything is listed") {
  ReflectorTalk passing;
  passing.watching();
  CHECK(passing.error_line(500).ends);
  CHECK(passing.problem() == "500: broken");
  CHECK(passing.step_after_wait() == Do::watch);
  ReflectorTalk other;
  other.watching();
  CHECK(other.error_line(400).ends);
  CHECK(other.step_after_wait() == Do::list);
}

TEST_CASE("an invalid list is a problem and no change") {
  ReflectorTalk talk;
  talk.watching();
  talk.now += 1h;
  talk.watch_refused(410);
  talk.step();
  CHECK_FALSE(talk.reflector.listed(talk.now, parse_list("{}", 10)));
  CHECK(talk.state() == State::failing);
  CHECK(talk.problem() == "a list without items");
  REQUIRE(talk.step_after_wait() == Do::list);
  CHECK(talk.waited >= 4min);
}

TEST_CASE("a collection that the caller cannot keep is listed again after five minutes") {
  ReflectorTalk talk;
  talk.watching();
  talk.reflector.reject(talk.now, "too many");
  CHECK(talk.state() == State::failing);
  CHECK(talk.problem() == "too many");
  REQUIRE(talk.step_after_wait() == Do::list);
  CHECK(talk.waited >= 4min);
}

TEST_CASE("each state has a name") {
  CHECK(name_of(State::current) == "current");
  CHECK(name_of(State::absent) == "absent");
}
