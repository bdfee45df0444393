// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/store.hpp"

#include <doctest/doctest.h>

#include "test/core/verdict/records.hpp"

using namespace koord;
using namespace koord::test;
using namespace koord::verdict;
using namespace std::chrono_literals;

namespace {

struct Verdicts {
  Result<void> post(std::vector<Record> records, std::string_view plugin = "advisor", Origin origin = Origin::own) {
    return store.post(now, {std::string(plugin), origin, session}, std::move(records));
  }
  std::vector<RecordPtr> standing() const { return store.standing()->records; }

  Store store;
  std::uint64_t session = 1;
  Time now = Time(100s);
};

}  // namespace

TEST_CASE_FIXTURE(Verdicts,
                  "an active verdict has the id of its plugin and its origin, with any values in the record") {
  Record forged = verdict_about(7);
  forged.plugin = "advisor-interference";
  forged.origin = Origin::own;
  forged.id = 99;
  forged.ended = now;
  REQUIRE(post({forged}, "com.acme.rule", Origin::third_party));
  REQUIRE(standing().size() == 1);
  const Record& record = *standing()[0];
  CHECK(record.plugin == "com.acme.rule");
  CHECK(record.origin == Origin::third_party);
  CHECK(record.id == 1);
  CHECK(record.since == now);
  CHECK_FALSE(record.ended);
  CHECK(record.statistic.value == 0.04);
}

TEST_CASE_FIXTURE(Verdicts, "a verdict that is posted again keeps its id and its begin") {
  REQUIRE(post({verdict_about(7), verdict_about(8)}));
  now += 5s;
  Record again = verdict_about(7);
  again.statistic.value = 0.08;
  REQUIRE(post({again}));
  REQUIRE(standing().size() == 2);
  CHECK(standing()[0]->id == 1);
  CHECK(standing()[0]->since == Time(100s));
  CHECK(standing()[0]->posted == now);
  CHECK(standing()[0]->statistic.value == 0.08);
  CHECK(standing()[1]->id == 2);
  CHECK(store.posted() == 3);
}

TEST_CASE_FIXTURE(Verdicts, "victim, resource, kind and plugin distinguish verdicts; the last of a post counts") {
  REQUIRE(post({verdict_about(7), verdict_about(7, Kind::self_quota),
                verdict_about(7, Kind::interfered, Resource::memory), verdict_about(8)}));
  REQUIRE(post({verdict_about(7)}, "com.acme.rule", Origin::third_party));
  CHECK(standing().size() == 5);
  Record first = verdict_about(9), last = verdict_about(9);
  first.note = "first";
  last.note = "last";
  REQUIRE(post({first, last}));
  REQUIRE(standing().size() == 6);
  CHECK(standing()[5]->note == "last");
}

TEST_CASE_FIXTURE(Verdicts, "the generation grows with begin, end, method and suspects, not with values") {
  const std::uint64_t begin = store.generation();
  CHECK(begin > 0);
  Record record = verdict_about(7);
  record.suspects = {suspect(2, 0.03), suspect(3, 0.01)};
  REQUIRE(post({record}));
  CHECK(store.generation() == begin + 1);
  CHECK(store.standing()->generation == begin + 1);
  record.statistic.value = 0.5;
  record.suspects[0].value = 0.04;
  REQUIRE(post({record}));
  CHECK(store.generation() == begin + 1);
  CHECK(standing()[0]->statistic.value == 0.5);
  std::swap(record.suspects[0], record.suspects[1]);
  REQUIRE(post({record}));
  CHECK(store.generation() == begin + 1);
  record.suspects[0].subject.handle = 4;
  REQUIRE(post({record}));
  CHECK(store.generation() == begin + 2);
  record.method = Method::estimated;
  REQUIRE(post({record}));
  CHECK(store.generation() == begin + 3);
  CHECK(store.end(now, "advisor", record.key(), ""));
  CHECK(store.generation() == begin + 4);
  CHECK_FALSE(store.end(now, "advisor", record.key(), ""));
  REQUIRE(post({}));
  CHECK(store.expire(now) == 0);
  CHECK(store.generation() == begin + 4);
}

TEST_CASE_FIXTURE(Verdicts, "an ended verdict is history, with the time and the reason") {
  REQUIRE(post({verdict_about(7), verdict_about(8)}));
  now += 30s;
  CHECK_FALSE(store.end(now, "com.acme.rule", verdict_about(7).key(), "not its own"));
  REQUIRE(store.end(now, "advisor", verdict_about(7).key(), "10 s without a finding"));
  REQUIRE(standing().size() == 1);
  CHECK(standing()[0]->victim.handle == 8);
  const std::vector<RecordPtr> all = store.history();
  REQUIRE(all.size() == 2);
  CHECK(all[0]->id == 2);
  CHECK_FALSE(all[0]->ended);
  CHECK(all[1]->ended == now);
  CHECK(all[1]->why_ended == "10 s without a finding");
  REQUIRE(post({verdict_about(7)}));
  CHECK(standing()[1]->id == 3);
}

TEST_CASE_FIXTURE(Verdicts, "verdicts end with their plugin, with their victim, and when they are not posted again") {
  REQUIRE(post({verdict_about(7), verdict_about(8)}));
  REQUIRE(post({verdict_about(7), verdict_about(9)}, "com.acme.rule", Origin::third_party));
  CHECK(store.end_all_about(now, 7, "the container has ended") == 2);
  CHECK(store.end_session(now, "com.acme.rule", session, "its plugin has ended") == 1);
  REQUIRE(standing().size() == 1);
  CHECK(store.expire(now + 59s) == 0);
  CHECK(store.expire(now + 60s) == 1);
  CHECK(standing().empty());
  for (const RecordPtr& record : store.history()) CHECK_FALSE(record->why_ended.empty());
}

TEST_CASE_FIXTURE(Verdicts, "the end of a session keeps verdicts that the next session has posted again") {
  REQUIRE(post({verdict_about(7), verdict_about(8)}));
  session = 2;
  REQUIRE(post({verdict_about(8)}));
  CHECK(store.end_session(now, "com.acme.rule", 1, "") == 0);
  CHECK(store.end_session(now, "advisor", 1, "its plugin has ended") == 1);
  REQUIRE(standing().size() == 1);
  CHECK(standing()[0]->victim.handle == 8);
  CHECK(standing()[0]->id == 2);
}

TEST_CASE_FIXTURE(Verdicts, "a suspect that ends while the verdict stands keeps its name") {
  Record record = verdict_about(7);
  record.suspects = {suspect(2, 0.03)};
  record.suspects[0].name = "batch/etl/main";
  record.suspects[0].subject.labels = {{"container_name", "main"}};
  REQUIRE(post({record}));
  record.suspects[0].name.clear();
  record.suspects[0].subject.labels = {};
  REQUIRE(post({record}));
  CHECK(standing()[0]->suspects[0].name == "batch/etl/main");
  CHECK_FALSE(standing()[0]->suspects[0].subject.labels.empty());
}

TEST_CASE_FIXTURE(Verdicts, "a closed session has no verdicts and posts none until it has ended") {
  REQUIRE(post({verdict_about(7)}));
  CHECK(store.close_session(now, "advisor", session, "its plugin does not return") == 1);
  CHECK(standing().empty());
  const Result<void> refused = post({verdict_about(7)});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().is(std::errc::operation_canceled));
  const std::uint64_t closed = session;
  session = 2;
  CHECK(post({verdict_about(7)}));
  CHECK(store.end_session(now, "advisor", closed, "its plugin has ended") == 0);
  CHECK(standing().size() == 1);
}

TEST_CASE_FIXTURE(Verdicts, "the version of the standing verdicts grows with values, too") {
  REQUIRE(post({verdict_about(7)}));
  const auto before = store.standing();
  CHECK(store.standing() == before);
  REQUIRE(post({verdict_about(7)}));
  CHECK(store.standing()->version > before->version);
  CHECK(store.standing()->generation == before->generation);
}

TEST_CASE_FIXTURE(Verdicts, "all plugins together have a limit") {
  Record large = verdict_about(1);
  large.note.assign(3u << 20, 'x');
  REQUIRE(post({large}, "a"));
  REQUIRE(post({large}, "b"));
  CHECK_FALSE(post({large}, "c"));
  CHECK(post({verdict_about(1)}, "c"));
  CHECK(store.end(now, "a", large.key(), ""));
  CHECK(post({large}, "c"));
}

TEST_CASE_FIXTURE(Verdicts, "a query selects by victim, resource, kind and time, the newest first") {
  REQUIRE(post({verdict_about(7), verdict_about(7, Kind::self_quota), verdict_about(8)}));
  now += 60s;
  store.end_all_about(now, 7, "");
  now += 60s;
  REQUIRE(post({verdict_about(9, Kind::unknown, Resource::memory)}));
  CHECK(store.history().size() == 4);
  CHECK(store.history({.victim = 7}).size() == 2);
  CHECK(store.history({.resource = Resource::memory}).size() == 1);
  CHECK(store.history({.kind = Kind::interfered}).size() == 2);
  CHECK(store.history({.from = Time(161s)}).size() == 2);  // 8 is still active, 9 began later
  CHECK(store.history({.to = Time(219s)}).size() == 3);
  REQUIRE(store.history({.most = 1}).size() == 1);
  CHECK(store.history({.most = 1})[0]->victim.handle == 9);
}

TEST_CASE_FIXTURE(Verdicts, "beyond its limits a plugin's post is refused whole, and others are not affected") {
  std::vector<Record> many;
  for (std::uint64_t i = 1; i <= kThirdPartyLimits.standing; ++i) many.push_back(verdict_about(i));
  REQUIRE(post(many, "com.acme.rule", Origin::third_party));
  const Result<void> refused = post({verdict_about(1), verdict_about(10'000)}, "com.acme.rule", Origin::third_party);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().is(std::errc::resource_unavailable_try_again));
  CHECK(refused.error().text == "it has more than 256 standing verdicts");
  CHECK(post({verdict_about(1)}, "com.acme.rule", Origin::third_party));  // the plugin already has a verdict about it
  CHECK(post({verdict_about(1)}, "com.acme.other", Origin::third_party));
  CHECK(standing().size() == kThirdPartyLimits.standing + 1);
}

TEST_CASE_FIXTURE(Verdicts, "large verdicts count by their bytes, both active and ended") {
  Record large = verdict_about(1);
  large.note.assign(kThirdPartyLimits.standing_bytes / 4, 'x');
  for (std::uint64_t i = 1; i <= 3; ++i) {
    large.victim.handle = i;
    REQUIRE(post({large}, "com.acme.rule", Origin::third_party));
  }
  large.victim.handle = 4;
  CHECK_FALSE(post({large}, "com.acme.rule", Origin::third_party));
  for (int i = 0; i < 100; ++i) {
    store.end_session(now, "com.acme.rule", session, "");
    REQUIRE(post({large}, "com.acme.rule", Origin::third_party));
  }
  std::size_t bytes = 0;
  for (const RecordPtr& record : store.history()) bytes += record->ended ? bytes_of(*record) : 0;
  CHECK(bytes <= kThirdPartyLimits.ended_bytes);
}

TEST_CASE_FIXTURE(Verdicts, "ended verdicts of one plugin do not displace those of another") {
  REQUIRE(post({verdict_about(7)}));
  store.end_session(now, "advisor", session, "");
  for (std::size_t i = 0; i < 2 * kThirdPartyLimits.ended; ++i) {
    REQUIRE(post({verdict_about(7)}, "com.acme.rule", Origin::third_party));
    store.end_session(now, "com.acme.rule", session, "");
  }
  CHECK(store.history().size() == kThirdPartyLimits.ended + 1);
  CHECK(store.history().back()->plugin == "advisor");
}

TEST_CASE_FIXTURE(Verdicts, "subscribers learn the generation after each change, until they are removed") {
  std::vector<std::uint64_t> seen;
  std::size_t standing_then = 0;
  const std::uint64_t subscription = store.subscribe([&](std::uint64_t generation) {
    seen.push_back(generation);
    standing_then = store.standing()->records.size();
  });
  REQUIRE(post({verdict_about(7)}));
  CHECK(standing_then == 1);
  REQUIRE(post({verdict_about(7)}));
  store.end_session(now, "advisor", session, "");
  CHECK(standing_then == 0);
  CHECK(seen == std::vector<std::uint64_t>{2, 3});
  store.remove(subscription);
  REQUIRE(post({verdict_about(7)}));
  CHECK(seen.size() == 2);
}
