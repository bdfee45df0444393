// SPDX-License-Identifier: Apache-2.0
#include "core/kube/reflector.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace koord;
using namespace koord::kube;
using namespace std::chrono_literals;
using Do = Reflector::Step::Do;
using State = Health::State;

namespace {

// An API server's answers to one reflector, and a time that the test moves.
struct Talk {
  Talk() : reflector({.path = "/api/v1/nodes", .field_selector = "metadata.name=a"}, {}, now, 7) {}

  Do step() {
    last = reflector.next(now);
    return last.what;
  }
  // Waits for as long as the reflector wants to, then goes on.
  Do step_after_wait() {
    if (step() != Do::wait || last.at == Time::max()) return last.what;
    waited = last.at - now;
    now = last.at;
    return step();
  }
  std::string target() const { return reflector.call().target; }
  bool asks_for(std::string_view what) const { return target().find(what) != std::string::npos; }

  std::optional<Reflector::Page> list(std::string version, std::string continuation = {}) {
    return reflector.listed(now, ListPage{std::move(version), std::move(continuation), {}});
  }
  void list_refused(unsigned status, std::string body = {}, std::optional<Duration> retry_after = {}) {
    reflector.list_failed(now, Reply{status, std::move(body), retry_after});
  }
  void list_lost() { reflector.list_failed(now, invalid("connection refused")); }
  void watch_refused(unsigned status, std::string body = {}) { reflector.watch_ended(now, Reply{status, std::move(body)}); }
  void watch_lost() { reflector.watch_ended(now, invalid("connection reset")); }
  void watch_ended() { reflector.watch_ended(now, Reply{200, ""}); }
  Reflector::Line line(const std::string& type, const std::string& version) {
    text = R"({"type":")" + type + R"(","object":{"metadata":{"name":"a","resourceVersion":")" + version + R"("}}})";
    return reflector.line(now, text);
  }
  Reflector::Line error_line(int code) {
    text = R"({"type":"ERROR","object":{"kind":"Status","message":"told so","code":)" + std::to_string(code) + "}}";
    return reflector.line(now, text);
  }
  // Listed at version 5, a watch runs.
  void watching() {
    step();
    list("5");
    step();
  }
  State state() const { return reflector.health().state; }
  const std::string& problem() const { return reflector.health().problem; }

  Time now = from_ns(1'700'000'000'000'000'000);
  Reflector reflector;
  Reflector::Step last;
  Duration waited{};
  std::string text;
};

}  // namespace

TEST_CASE("a reflector lists what the server has at hand, at once") {
  Talk talk;
  CHECK(talk.step() == Do::list);
  CHECK(talk.reflector.call().verb == Verb::list);
  CHECK(talk.target() == "/api/v1/nodes?fieldSelector=metadata.name%3Da&limit=500&resourceVersion=0");
  CHECK(talk.step() == Do::wait);
  CHECK(talk.last.at == Time::max());
  CHECK(talk.state() == State::starting);
}

TEST_CASE("a list that is to be the newest names no version, so that it comes in pages") {
  const Reflector reflector({.path = "/api/v1/persistentvolumeclaims", .newest = true}, {}, Time{}, 7);
  CHECK(reflector.call().target == "/api/v1/persistentvolumeclaims?limit=500");
}

TEST_CASE("the pages of a list are asked for one after the other, without a version") {
  Talk talk;
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

TEST_CASE("a list whose pages have no end is given up after a thousand, and begun anew after five minutes") {
  Talk talk;
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
  Talk talk;
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
  Talk talk;
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

TEST_CASE("a bookmark moves the version, is news, and changes nothing") {
  Talk talk;
  talk.watching();
  talk.now += 60s;
  CHECK_FALSE(talk.line("BOOKMARK", "31").change);
  CHECK(talk.reflector.health().last_news == talk.now);
  talk.now += 21min;
  talk.watch_ended();
  talk.step();
  CHECK(talk.asks_for("&resourceVersion=31&"));
}

TEST_CASE("a watch that the server ends before its time is begun again within five seconds, and is no failure") {
  Talk talk;
  talk.watching();
  talk.now += 30s;
  talk.watch_ended();
  CHECK(talk.step_after_wait() == Do::watch);
  CHECK(talk.waited <= 5s);
  CHECK(talk.state() == State::current);
  CHECK(talk.reflector.health().failures == 0);
}

TEST_CASE("watches begin a second apart, however fast a server ends them with news") {
  Talk talk;
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
  Talk talk;
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
    Talk talk;
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
  Talk talk;
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

TEST_CASE("a list whose next page has expired begins anew") {
  Talk talk;
  talk.step();
  talk.list("5", "token");
  talk.step();
  talk.list_refused(410, R"({"kind":"Status","reason":"Expired","metadata":{"continue":"other"}})");
  CHECK(talk.step() == Do::list);
  CHECK_FALSE(talk.asks_for("continue="));
  CHECK((talk.list("9")->first));
}

TEST_CASE("a page that failed is asked for again") {
  Talk talk;
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
    Talk talk;
    talk.watching();
    talk.watch_refused(410);
    talk.step();
    talk.list_refused(refusal, R"({"kind":"Status","reason":"Timeout","message":"Too large resource version: 5, current: 3"})");
    REQUIRE(talk.step_after_wait() == Do::list);
    CHECK_FALSE(talk.asks_for("resourceVersion"));
    talk.list("3");
    REQUIRE(talk.step() == Do::watch);
    CHECK(talk.asks_for("&resourceVersion=3&"));
  }
}

TEST_CASE("a server that is away is asked again later and later, two minutes apart at most") {
  Talk talk;
  talk.watching();
  talk.now += 1h;
  talk.watch_lost();
  CHECK(talk.state() == State::failing);
  CHECK(talk.problem() == "connection reset");
  const Time since = talk.reflector.health().since;
  int attempts = 0;
  for (const Time end = talk.now + 2h; talk.now < end; ++attempts) {
    REQUIRE(talk.step_after_wait() == Do::watch);
    CHECK(talk.waited <= 2min);
    talk.watch_lost();
  }
  CHECK(attempts > 60);
  CHECK(attempts < 130);
  CHECK(talk.reflector.health().since == since);
  CHECK(talk.asks_for("resourceVersion=5"));
}

TEST_CASE("a watch that goes on for fifteen seconds makes up for earlier failures") {
  Talk talk;
  talk.watching();
  for (int i = 0; i < 8; ++i) {
    talk.watch_lost();
    REQUIRE(talk.step_after_wait() == Do::watch);
  }
  CHECK(talk.state() == State::failing);
  CHECK(talk.step() == Do::wait);
  CHECK(talk.last.at == talk.now + 15s);
  talk.now += 15s;
  CHECK(talk.step() == Do::wait);
  CHECK(talk.last.at == Time::max());
  CHECK(talk.state() == State::current);
  CHECK(talk.reflector.health().last_news == talk.now);
  talk.now += 1min;
  talk.watch_lost();
  talk.step_after_wait();
  CHECK(talk.waited <= 10s);
}

TEST_CASE("the wait that a busy server asks for is kept") {
  for (unsigned status : {429u, 503u}) {
    Talk talk;
    talk.step();
    talk.list_refused(status, "", 90s);
    CHECK(talk.state() == State::starting);
    REQUIRE(talk.step_after_wait() == Do::list);
    CHECK(talk.waited >= 90s);
    CHECK(talk.waited <= 99s);
  }
}

TEST_CASE("the wait may stand in the answer's object, too") {
  Talk talk;
  talk.watching();
  talk.watch_refused(429, R"({"kind":"Status","code":429,"details":{"retryAfterSeconds":40}})");
  REQUIRE(talk.step_after_wait() == Do::watch);
  CHECK(talk.waited >= 40s);
}

TEST_CASE("a server whose storage is initializing is asked again when it says so, however often") {
  Talk talk;
  talk.watching();
  for (int i = 0; i < 20; ++i) {
    talk.watch_refused(429, R"({"kind":"Status","code":429,"message":"storage is (re)initializing","details":{"retryAfterSeconds":1}})");
    CHECK(talk.reflector.waits_for_server() == talk.now + 1s);
    REQUIRE(talk.step_after_wait() == Do::watch);
    CHECK(talk.waited >= 1s);
    CHECK(talk.waited <= 1100ms);
  }
}

TEST_CASE("a server that answers again ends the wait and the back-off, but not before the time that it asked for") {
  Talk talk;
  talk.watching();
  for (int i = 0; i < 10; ++i) {
    talk.watch_lost();
    talk.step_after_wait();
  }
  talk.watch_lost();
  REQUIRE(talk.reflector.waits_for_server());
  talk.reflector.server_answers(talk.now, 1s);
  REQUIRE(talk.step_after_wait() == Do::watch);
  CHECK(talk.waited <= 1s);
  CHECK_FALSE(talk.reflector.waits_for_server());
  talk.watch_refused(503, R"({"kind":"Status","code":503,"details":{"retryAfterSeconds":3}})");
  talk.reflector.server_answers(talk.now, 1s);
  REQUIRE(talk.step_after_wait() == Do::watch);
  CHECK(talk.waited >= 3s);
  CHECK(talk.waited <= 4s);
}

TEST_CASE("a probe that fails makes the next wait longer") {
  Talk talk;
  talk.watching();
  for (int i = 0; i < 10; ++i) {
    talk.watch_lost();
    talk.reflector.try_again(talk.now);
    REQUIRE(talk.step() == Do::watch);
  }
  talk.watch_lost();
  talk.step();
  CHECK(talk.last.at - talk.now >= 1min);
}

TEST_CASE("a watch that has begun after an outage is current at once, and one that is always broken off at once is not") {
  Talk talk;
  talk.watching();
  talk.watch_lost();
  REQUIRE(talk.step_after_wait() == Do::watch);
  talk.reflector.watch_begun(talk.now);
  CHECK(talk.state() == State::current);
  CHECK(talk.problem().empty());
  for (int i = 0; i < 3; ++i) {
    talk.watch_lost();
    talk.step_after_wait();
    talk.reflector.watch_begun(talk.now);
  }
  CHECK(talk.state() == State::failing);
  talk.watch_lost();
  CHECK_FALSE(talk.reflector.waits_for_server());
}

TEST_CASE("what was allowed may be forbidden for half a minute after a restart, and is asked for again soon") {
  Talk talk;
  talk.watching();
  talk.line("MODIFIED", "6");
  talk.watch_lost();
  talk.step_after_wait();
  const Time since = talk.now;
  while (talk.now - since < 30s) {
    talk.watch_refused(403, R"({"kind":"Status","reason":"Forbidden"})");
    CHECK(talk.state() == State::forbidden);
    REQUIRE(talk.step_after_wait() == Do::list);
    CHECK(talk.waited <= 5s);
    talk.list_refused(403, R"({"kind":"Status","reason":"Forbidden"})");
    talk.step_after_wait();
  }
  talk.list_refused(403, R"({"kind":"Status","reason":"Forbidden"})");
  CHECK_FALSE(talk.reflector.waits_for_server());
  REQUIRE(talk.step_after_wait() == Do::list);
  CHECK(talk.waited >= 4min);
}

TEST_CASE("what is forbidden is told as such and asked for every five minutes") {
  Talk talk;
  talk.step();
  for (int i = 0; i < 5; ++i) {
    talk.list_refused(403, R"({"kind":"Status","reason":"Forbidden","message":"nodes is forbidden: User \"u\" cannot list"})");
    CHECK(talk.state() == State::forbidden);
    CHECK(talk.problem() == "403 Forbidden: nodes is forbidden: User \"u\" cannot list");
    REQUIRE(talk.step_after_wait() == Do::list);
    CHECK(talk.waited >= 4min);
    CHECK(talk.waited <= 6min);
  }
  talk.list("5");
  CHECK(talk.state() == State::current);
  CHECK(talk.problem().empty());
}

TEST_CASE("where only the watch is forbidden, lists go on bringing news and the problem stays") {
  Talk talk;
  talk.watching();
  talk.watch_refused(403);
  const Time since = talk.reflector.health().since;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(talk.step_after_wait() == Do::list);
    talk.list("6");
    CHECK(talk.state() == State::forbidden);
    CHECK(talk.reflector.health().last_news == talk.now);
    CHECK(talk.reflector.health().since == since);
    REQUIRE(talk.step() == Do::watch);
    talk.watch_refused(403);
  }
  talk.step_after_wait();
  talk.list("6");
  talk.step();
  talk.line("ADDED", "7");
  CHECK(talk.state() == State::current);
}

TEST_CASE("a kind that the server does not know is absent, and is looked for every five minutes") {
  Talk talk;
  talk.step();
  talk.list_refused(404, "404 page not found\n");
  CHECK(talk.state() == State::absent);
  CHECK(talk.problem() == "404: 404 page not found");
  CHECK(talk.reflector.health().last_news == talk.now);
  REQUIRE(talk.step_after_wait() == Do::list);
  CHECK(talk.waited >= 4min);
  talk.list("5");
  CHECK(talk.state() == State::current);
}

TEST_CASE("a kind that was there is absent only after two minutes of being unknown") {
  Talk talk;
  talk.watching();
  talk.now += 1h;
  talk.watch_refused(404);
  REQUIRE(talk.step() == Do::list);
  const Time first = talk.now;
  talk.list_refused(404);
  while (talk.state() != State::absent) {
    CHECK(talk.state() == State::failing);
    REQUIRE(talk.step_after_wait() == Do::list);
    talk.list_refused(404);
  }
  CHECK(talk.now - first >= 2min);
  CHECK(talk.now - first <= 5min);
}

TEST_CASE("an interruption of unknown kinds by an answer begins the two minutes anew") {
  Talk talk;
  talk.watching();
  talk.watch_refused(410);
  talk.step();
  talk.list_refused(404);
  talk.step_after_wait();
  talk.list("6");
  talk.now += 1h;
  talk.step();
  talk.watch_refused(404);
  talk.step_after_wait();
  talk.list_refused(404);
  CHECK(talk.state() == State::failing);
}

TEST_CASE("a line that is no event ends the watch, and everything is listed again") {
  Talk talk;
  talk.watching();
  CHECK(talk.reflector.line(talk.now, "{\"type\":").ends);
  CHECK(talk.problem().starts_with("not the JSON"));
  CHECK(talk.step_after_wait() == Do::list);
}

TEST_CASE("after an error that passes a watch goes on where it was, after any other everything is listed") {
  Talk passing;
  passing.watching();
  CHECK(passing.error_line(500).ends);
  CHECK(passing.problem() == "500: told so");
  CHECK(passing.step_after_wait() == Do::watch);
  Talk other;
  other.watching();
  CHECK(other.error_line(400).ends);
  CHECK(other.step_after_wait() == Do::list);
}

TEST_CASE("a list that is none is a problem and no change") {
  Talk talk;
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

TEST_CASE("what the caller cannot keep is listed again after five minutes") {
  Talk talk;
  talk.watching();
  talk.reflector.reject(talk.now, "too many");
  CHECK(talk.state() == State::failing);
  CHECK(talk.problem() == "too many");
  REQUIRE(talk.step_after_wait() == Do::list);
  CHECK(talk.waited >= 4min);
}

TEST_CASE("a state is told by its name") {
  CHECK(name_of(State::current) == "current");
  CHECK(name_of(State::absent) == "absent");
}
