// SPDX-License-Identifier: Apache-2.0
// Servers that are down or busy, deny access, or do not have a kind.
#include <algorithm>

#include "reflector_talk.hpp"

using namespace koord;
using namespace koord::kube;
using namespace koord::test;
using namespace std::chrono_literals;
using Do = Reflector::Step::Do;
using State = Health::State;

TEST_CASE("a server that is away is asked again later and later, two minutes apart at most") {
  ReflectorTalk talk;
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
  ReflectorTalk talk;
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
  CHECK(talk.reflector.health().last_confirmed == talk.now);
  talk.now += 1min;
  talk.watch_lost();
  talk.step_after_wait();
  CHECK(talk.waited <= 10s);
}

TEST_CASE("the wait that a busy server asks for is kept") {
  for (unsigned status : {429u, 503u}) {
    ReflectorTalk talk;
    talk.step();
    talk.list_refused(status, "", 90s);
    CHECK(talk.state() == State::starting);
    REQUIRE(talk.step_after_wait() == Do::list);
    CHECK(talk.waited >= 90s);
    CHECK(talk.waited <= 99s);
  }
}

TEST_CASE("the wait may stand in the answer's object, too") {
  ReflectorTalk talk;
  talk.watching();
  talk.watch_refused(429, R"({"kind":"Status","code":429,"details":{"retryAfterSeconds":40}})");
  REQUIRE(talk.step_after_wait() == Do::watch);
  CHECK(talk.waited >= 40s);
}

TEST_CASE("a server with a storage that is initializing is asked again at its own pace, however often") {
  ReflectorTalk talk;
  talk.watching();
  for (int i = 0; i < 20; ++i) {
    talk.watch_refused(
        429,
        R"({"kind":"Status","code":429,"message":"storage is (re)initializing","details":{"retryAfterSeconds":1}})");
    CHECK(talk.reflector.waits_for_server() == talk.now + 1s);
    REQUIRE(talk.step_after_wait() == Do::watch);
    CHECK(talk.waited >= 1s);
    CHECK(talk.waited <= 1100ms);
  }
}

TEST_CASE("a server that answers again ends the wait and the back-off, but not before the time that it asked for") {
  ReflectorTalk talk;
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
  ReflectorTalk talk;
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

TEST_CASE("a watch that starts after an outage is current at once; one that always breaks at once is not") {
  ReflectorTalk talk;
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

TEST_CASE("an allowed request may be forbidden for half a minute after a restart, and is repeated soon") {
  ReflectorTalk talk;
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

TEST_CASE("a forbidden request is reported as such and repeated every five minutes") {
  ReflectorTalk talk;
  talk.step();
  for (int i = 0; i < 5; ++i) {
    talk.list_refused(
        403, R"({"kind":"Status","reason":"Forbidden","message":"nodes is forbidden: User \"u\" cannot list"})");
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

TEST_CASE("if only the watch is forbidden, lists go on with changes and the problem stays") {
  ReflectorTalk talk;
  talk.watching();
  talk.watch_refused(403);
  const Time since = talk.reflector.health().since;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(talk.step_after_wait() == Do::list);
    talk.list("6");
    CHECK(talk.state() == State::forbidden);
    CHECK(talk.reflector.health().last_confirmed == talk.now);
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
  ReflectorTalk talk;
  talk.step();
  talk.list_refused(404, "404 page not found\n");
  CHECK(talk.state() == State::absent);
  CHECK(talk.problem() == "404: 404 page not found");
  CHECK(talk.reflector.health().last_confirmed == talk.now);
  REQUIRE(talk.step_after_wait() == Do::list);
  CHECK(talk.waited >= 4min);
  talk.list("5");
  CHECK(talk.state() == State::current);
}

TEST_CASE("a kind that was there is absent only after two minutes of being unknown") {
  ReflectorTalk talk;
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

TEST_CASE("an answer between unknown kinds restarts the two minutes") {
  ReflectorTalk talk;
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
