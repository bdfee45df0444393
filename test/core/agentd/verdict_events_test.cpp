// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/verdict_events.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::agentd;
using namespace std::chrono_literals;
using verdict::Kind;
using verdict::Record;
using verdict::RecordPtr;

namespace {

constexpr Time kStart{1000h};

metric::Labels of_pod(const char* uid, const char* name_space, const char* pod, const char* container) {
  return {{"container_name", container}, {"pod_uid", uid}, {"pod_name", pod}, {"pod_namespace", name_space}};
}

verdict::Suspect suspect(metric::Labels labels, double share) {
  verdict::Suspect suspect;
  suspect.subject = {7, std::move(labels)};
  suspect.share = share;
  return suspect;
}

Record about(const char* uid = "u1", std::uint64_t id = 1) {
  Record record;
  record.id = id;
  record.plugin = "advisor-interference";
  record.origin = verdict::Origin::own;
  record.since = kStart;
  record.victim = {2, of_pod(uid, "shop", "cart", "app")};
  record.kind = Kind::interfered;
  record.method = verdict::Method::exact;
  record.statistic = {"held_up_by_others", "ratio", 0.042, 0.003, 0.01};
  return record;
}

std::vector<RecordPtr> one(const Record& record) { return {std::make_shared<const Record>(record)}; }

}  // namespace

TEST_CASE("a verdict is reported after it was active for a minute, and again after an hour") {
  VerdictEvents events;
  CHECK(events.due(one(about()), kStart + 59s).empty());
  REQUIRE(events.due(one(about()), kStart + 60s).size() == 1);
  CHECK(events.due(one(about()), kStart + 61s).empty());
  CHECK(events.due(one(about()), kStart + 59min).empty());
  CHECK(events.due(one(about()), kStart + 61min).size() == 1);
}

TEST_CASE("repeated verdicts about a pod are reported once in ten minutes for each resource and plugin") {
  VerdictEvents events;
  CHECK(events.due(one(about("u1", 1)), kStart + 1min).size() == 1);
  CHECK(events.due(one(about("u1", 2)), kStart + 5min).empty());
  Record memory = about("u1", 3);
  memory.resource = verdict::Resource::memory;
  CHECK(events.due(one(memory), kStart + 5min).size() == 1);
  Record other = about("u1", 4);
  other.plugin = "com.acme.judge";
  CHECK(events.due(one(other), kStart + 5min).size() == 1);
  CHECK(events.due(one(about("u2", 5)), kStart + 5min).size() == 1);
  CHECK(events.due(one(about("u1", 6)), kStart + 11min).size() == 1);
}

TEST_CASE("a plugin with verdicts about all pods has a limit, and other plugins are still reported") {
  VerdictEvents events;
  std::vector<RecordPtr> flood;
  for (int i = 0; i < 1000; ++i) {
    Record record = about(("u" + std::to_string(i)).c_str(), static_cast<std::uint64_t>(i + 1));
    record.plugin = "com.acme.judge";
    record.origin = verdict::Origin::third_party;
    flood.push_back(std::make_shared<const Record>(record));
  }
  CHECK(events.due(flood, kStart + 1min).size() == VerdictEvents::kMostThirdParty);
  CHECK(events.due(flood, kStart + 10min).empty());
  CHECK(events.due(one(about()), kStart + 10min).size() == 1);
  CHECK(events.due(flood, kStart + 11min).size() == VerdictEvents::kMostThirdParty);
}

TEST_CASE("two active verdicts about one pod and resource are each reported once an hour") {
  VerdictEvents events;
  const std::vector<RecordPtr> both = {one(about("u1", 1))[0], one(about("u1", 2))[0]};
  std::size_t reported = 0;
  for (int minute = 1; minute < 61; ++minute)
    reported += events.due(both, kStart + std::chrono::minutes(minute)).size();
  CHECK(reported == 2);
  CHECK(events.due(both, kStart + 61min).size() == 1);
}

TEST_CASE("a cause that a plugin has named, and one that has ended, have no name in an Event") {
  Record record = about();
  record.suspects = {suspect({}, 0.6), suspect({}, 0.2)};
  record.suspects[0].kind = verdict::SuspectKind::other;
  record.suspects[0].name = "secret/etl";
  const std::string message = event_of(record, kStart + 60s).message;
  CHECK(message.find("; caused by another cause 60 %, a pod or container that has ended 20 %; exact") !=
        std::string::npos);
}

TEST_CASE("an Event belongs to the victim's pod, states the effect, and names no pod of another namespace") {
  Record record = about();
  record.suspects = {suspect(of_pod("u2", "secret", "etl", "main"), 0.62),
                     suspect(of_pod("u3", "shop", "job", "run"), 0.2),
                     suspect({{"container_name", "backup.service"}}, 0.1), suspect({}, 0.01)};
  record.suspects[3].kind = verdict::SuspectKind::kernel;
  const kube::EventInput event = event_of(record, kStart + 90s);
  CHECK(event.about == kube::ObjectReference{"v1", "Pod", "shop", "cart", "u1"});
  CHECK(event.warning);
  CHECK(event.reason == "Interfered");
  CHECK(
      event.message ==
      "container app is held up on cpu for 1m30s: a request finds the container held up for > 1 ms during 4.2 % of the "
      "time (quiet 0.3 %, limit 1.0 %); caused by a pod of another namespace 62 %, job/run 20 %, a container outside of "
      "pods 10 %, …; exact");
}

TEST_CASE("a verdict about a pod's own limits is not a warning, and a third-party plugin is named") {
  Record record = about();
  record.kind = Kind::self_quota;
  record.origin = verdict::Origin::third_party;
  record.plugin = "com.acme.judge";
  const kube::EventInput event = event_of(record, kStart + 60s);
  CHECK_FALSE(event.warning);
  CHECK(event.reason == "HeldUpByOwnQuota");
  CHECK(event.message.ends_with("; exact; judged by plugin com.acme.judge"));
}

TEST_CASE("a container outside of pods and an ended verdict have no Event") {
  VerdictEvents events;
  Record outside = about();
  outside.victim.labels = {{"container_name", "backup.service"}};
  CHECK(events.due(one(outside), kStart + 1h).empty());
  Record ended = about();
  ended.ended = kStart + 30s;
  CHECK(events.due(one(ended), kStart + 1h).empty());
}
