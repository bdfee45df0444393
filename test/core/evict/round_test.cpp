// SPDX-License-Identifier: Apache-2.0
#include "core/evict/round.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "pods.hpp"

using namespace koord;
using namespace koord::evict;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

config::EvictSettings limits() {
  config::EvictSettings limits;
  limits.most_pods = 5;
  limits.window = 5min;
  limits.brake_percent = 30;
  limits.brake_period = 30min;
  limits.pending_period = 2min;
  return limits;
}

struct Node {
  state::Snapshot snapshot = node_with(20);
  UsageByPod usage = use_of(snapshot);
  Time now = Time(1000h);
  EvictionTracker tracker{limits(), 7};
  std::vector<Request> requests;
  std::vector<Verdict> verdicts;

  // Makes one round. Returns the pods for which evictions are requested.
  std::vector<std::string> round(std::vector<Request> wanted, const EvictionTracker* others = nullptr,
                                 std::string problem = {}) {
    tracker.update(snapshot, now);
    requests = std::move(wanted);
    verdicts = decide(requests, "qos-memory-evict", tracker, {snapshot, usage, {}, std::move(problem), now, others});
    std::vector<std::string> going;
    for (const Verdict& verdict : verdicts) {
      if (verdict.outcome != decision::Outcome::evicted) continue;
      tracker.ask(verdict.pod->uid, verdict.holding, now);
      going.push_back(verdict.pod->name);
    }
    return going;
  }
  std::size_t count(decision::Outcome outcome) const {
    return static_cast<std::size_t>(
        std::count_if(verdicts.begin(), verdicts.end(), [&](const Verdict& v) { return v.outcome == outcome; }));
  }
  state::Pod& pod(int number) {
    const auto found = std::find_if(snapshot.pods.begin(), snapshot.pods.end(),
                                    [&](const auto& pod) { return pod.uid == uid_of(number); });
    return snapshot.pods[static_cast<std::size_t>(found - snapshot.pods.begin())];
  }
  void end_pod(int number) {
    std::vector<state::Pod> pods = snapshot.pods;
    std::erase_if(pods, [&](const auto& pod) { return pod.uid == uid_of(number); });
    snapshot.pods = std::move(pods);
  }
  void answer(int number, kube::EvictionAnswer answer) { tracker.answered(uid_of(number), answer, now); }
};

using Names = std::vector<std::string>;
using Answer = kube::EvictionAnswer::Outcome;

}  // namespace

TEST_CASE_FIXTURE(Node, "pods go in the order of the request until enough is released") {
  CHECK(round({release_memory(2 * kGiB, {9, 4, 7})}) == Names{"pod-9", "pod-4"});
}

TEST_CASE_FIXTURE(Node, "a pod releases what it uses, or what it requests") {
  CHECK(round({{handles(1, 5), "cpu", "busy", 1500, {}}}).size() == 2);
  CHECK(round({{handles(6, 9), "kubernetes.io/batch-cpu.request", "overcommitted", 1000, {}}}) ==
        Names{});  // the first two release that resource, too
  CHECK(round({{handles(6, 9), "kubernetes.io/batch-cpu.request", "overcommitted", 3000, {}}}).size() == 1);
}

TEST_CASE_FIXTURE(Node, "a pod without measurements and requests releases nothing, and is not evicted") {
  usage.erase(uid_of(1));
  usage[uid_of(2)].memory_bytes = 0;
  CHECK(round({release_memory(1, {1, 2, 3})}) == Names{"pod-3"});
  CHECK(round({{handles(5, 6), "cpu.request", "overcommitted", 1, {}}}).empty());
}

TEST_CASE_FIXTURE(Node, "two requests for the same resource are not added up") {
  CHECK(round({release_memory(2 * kGiB, handles(1, 5)), release_memory(2 * kGiB, handles(3, 8))}) ==
        Names{"pod-1", "pod-2"});
}

TEST_CASE_FIXTURE(Node, "the request of another strategy for the same pod is released once") {
  CHECK(round({release_memory(3 * kGiB, handles(1, 5))}).size() == 3);
  CHECK(round({release_memory(2 * kGiB, handles(6, 9))}).empty());
  CHECK(round({release_memory(4 * kGiB, handles(6, 9))}) == Names{"pod-6"});
}

TEST_CASE_FIXTURE(Node, "a victim that is stuck Terminating yields no second one, however long it takes") {
  CHECK(round({release_memory(kGiB, handles(1, 5))}) == Names{"pod-1"});
  answer(1, {Answer::evicted, {}});
  pod(1).deleting = true;
  for (int minutes = 0; minutes < 60; ++minutes) {
    now += 1min;
    CHECK(round({release_memory(kGiB, handles(1, 5))}).empty());
  }
  CHECK(round({release_memory(2 * kGiB, handles(1, 5))}) == Names{"pod-2"});  // a different kind of pressure
}

TEST_CASE_FIXTURE(Node, "a victim that does not end counts for the pending period, and may then be evicted again") {
  CHECK(round({release_memory(kGiB, {1})}) == Names{"pod-1"});
  answer(1, {Answer::evicted, {}});
  now += 119s;
  CHECK(round({release_memory(kGiB, {1})}).empty());
  now += 1s;
  CHECK(round({release_memory(kGiB, {1})}) == Names{"pod-1"});
}

TEST_CASE_FIXTURE(Node, "an evicted pod counts until measurements can show its end") {
  CHECK(round({release_memory(kGiB, {1}), {{2}, "cpu", "busy", 2000, {}}}) == Names{"pod-1", "pod-2"});
  end_pod(1);
  end_pod(2);
  now += 1s;
  CHECK(round({release_memory(2 * kGiB, {3})}).empty());
  now += 4s;
  CHECK(round({{{3}, "cpu", "busy", 2000, {}}}).empty());
  CHECK(round({release_memory(kGiB, {3})}) == Names{"pod-3"});
  now += 16s;
  CHECK(round({{{4}, "cpu", "busy", 2000, {}}}) == Names{"pod-4"});  // together with pod-3, which is still ending
}

TEST_CASE_FIXTURE(Node, "a pod that another client deletes counts as going") {
  pod(2).deleting = true;
  CHECK(round({release_memory(kGiB, {1, 2})}).empty());
  CHECK(count(decision::Outcome::pending) == 1);
  CHECK(round({release_memory(2 * kGiB, {1, 2})}) == Names{"pod-1"});
}

TEST_CASE_FIXTURE(Node, "a pod that opted out stays, and the next one goes") {
  pod(1).annotations["koordinator.sh/eviction-policy"] = "[]";
  pod(2).owner_kind = "DaemonSet";
  CHECK(round({release_memory(kGiB, {1, 2, 3})}) == Names{"pod-3"});
  CHECK(count(decision::Outcome::opted_out) == 2);
}

TEST_CASE_FIXTURE(Node, "a refused pod is left alone for a while, longer each time, and as long as the server says") {
  CHECK(round({release_memory(kGiB, {1})}).size() == 1);
  answer(1, {Answer::over_budget, "the budget web has no disruption left", 60s});
  now += 59s;
  CHECK(round({release_memory(kGiB, {1})}).empty());
  CHECK(verdicts.front().why == "over budget: the budget web has no disruption left, not asked again for 1 s");
  now += 1s;
  CHECK(round({release_memory(kGiB, {1})}).size() == 1);
  answer(1, {Answer::over_budget, "", std::nullopt});
  now += 19s;
  CHECK(round({release_memory(kGiB, {1})}).empty());
  now += 1s;
  CHECK(round({release_memory(kGiB, {1})}).size() == 1);
}

TEST_CASE_FIXTURE(Node, "a pod that may not be evicted does not protect others") {
  CHECK(round({release_memory(kGiB, {1, 2})}) == Names{"pod-1"});
  answer(1, {Answer::over_budget, "", 10s});
  CHECK(round({release_memory(kGiB, {1, 2})}) == Names{"pod-2"});
}

TEST_CASE_FIXTURE(Node, "a busy server is not asked for any pod before the time that it says") {
  CHECK(round({release_memory(kGiB, {1, 2})}).size() == 1);
  answer(1, {Answer::busy, "429 Too Many Requests", 60s});
  now += 59s;
  CHECK(round({release_memory(kGiB, {1, 2})}).empty());
  CHECK(count(decision::Outcome::refused) == 1);
  now += 7s;  // adds at most a tenth of it
  CHECK(round({release_memory(kGiB, {1, 2})}).size() == 1);
}

TEST_CASE_FIXTURE(Node, "a server that is away gets no backlog when it is back") {
  CHECK(round({release_memory(kGiB, {1, 2})}).size() == 1);
  tracker.answered(uid_of(1), invalid("connection refused"), now);
  std::size_t asked = 0;
  for (int seconds = 0; seconds < 2 * 3600; ++seconds) {
    now += 1s;
    const Names going = round({release_memory(kGiB, {1, 2})});
    asked += going.size();
    if (!going.empty()) tracker.answered(uid_of(1), invalid("connection refused"), now);
  }
  CHECK(asked < 60);  // at most one in some minutes
  now += 10min;
  CHECK(round({release_memory(kGiB, {1, 2})}) == Names{"pod-1"});
}

TEST_CASE_FIXTURE(Node, "at most the budget is evicted in a window, and refused evictions use none of it") {
  snapshot = node_with(40);  // otherwise the brake would be on
  usage = use_of(snapshot);
  for (int number = 1; number <= 4; ++number) {
    CHECK(round({release_memory(number * kGiB, handles(1, 20))}).size() == 1);
    now += 10s;
  }
  answer(4, {Answer::over_budget, "", 10s});
  CHECK(round({release_memory(6 * kGiB, handles(1, 20))}).size() == 2);
  now += 10s;
  CHECK(round({release_memory(6 * kGiB, handles(1, 20))}).empty());
  CHECK(count(decision::Outcome::budget) == 1);
  now += 5min;
  for (int number : {1, 2, 3, 5, 6}) end_pod(number);
  tracker.update(snapshot, now);
  now += 20s;
  CHECK(round({release_memory(kGiB, handles(7, 20))}).size() == 1);
}

TEST_CASE_FIXTURE(Node, "a wrong metric that selects every pod evicts none while the brake is on") {
  CHECK(round({release_memory(100 * kGiB, handles(1, 20))}).empty());
  CHECK(count(decision::Outcome::brake) == 20);
  CHECK(tracker.brake_until(now) == now + 30min);
  now += 29min;
  CHECK(round({release_memory(kGiB, {1})}).empty());  // no request needs it
  now += 1min;
  CHECK(round({release_memory(kGiB, {1})}).size() == 1);
}

TEST_CASE_FIXTURE(Node, "the brake counts over a window, whichever strategy picks") {
  CHECK(round({release_memory(4 * kGiB, handles(1, 20))}).size() == 4);
  now += 10s;
  // This is the sixth of twenty pods. The limit allows no more.
  CHECK(round({release_memory(6 * kGiB, handles(1, 20))}).size() == 1);
  now += 10s;
  CHECK(round({release_memory(7 * kGiB, handles(1, 20))}).empty());
  CHECK(tracker.brake_until(now).has_value());
}

TEST_CASE_FIXTURE(Node, "pods that a budget protects do not make the brake of those behind them") {
  for (int number = 1; number <= 19; ++number) {
    CHECK(round({release_memory(kGiB, handles(1, 20))}).size() == 1);
    answer(number, {Answer::over_budget, "", 10min});
  }
  CHECK(round({release_memory(kGiB, handles(1, 20))}) == Names{"pod-20"});
}

TEST_CASE("the brake holds above a share of the node's pods, but never below five picked pods") {
  struct Row {
    std::size_t pods, most;
  };
  for (const Row& row :
       {Row{1, 5}, Row{6, 5}, Row{8, 5}, Row{16, 5}, Row{19, 5}, Row{20, 6}, Row{40, 12}, Row{110, 33}, Row{250, 75}}) {
    CAPTURE(row.pods);
    CHECK(most_picked(row.pods, 30) == row.most);
  }
}

TEST_CASE("on nodes of six and of eight pods five may go in a window, and the sixth pick makes the brake hold") {
  for (int pods : {6, 8}) {
    CAPTURE(pods);
    Node node;
    node.snapshot = node_with(pods);
    for (int gib = 1; gib <= 5; ++gib) CHECK(node.round({release_memory(gib * kGiB, handles(1, pods))}).size() == 1);
    CHECK_FALSE(node.tracker.brake_until(node.now));
    CHECK(node.round({release_memory(6 * kGiB, handles(1, pods))}).empty());
    CHECK(node.tracker.brake_until(node.now).has_value());
    CHECK(node.tracker.brake_why() ==
          "6 of the node's " + std::to_string(pods) + " pods were picked for eviction within evict.window");
  }
}

TEST_CASE_FIXTURE(Node, "an eviction without an answer counts in budget and credit, and five of them start the brake") {
  snapshot = node_with(40);
  usage = use_of(snapshot);
  CHECK(round({release_memory(4 * kGiB, handles(1, 20))}).size() == 4);
  for (int number = 1; number <= 4; ++number) answer(number, {Answer::unanswered, "no answer"});
  CHECK(tracker.room(now) == 1);
  CHECK(tracker.going() == 4);
  now += 11s;
  CHECK(round({release_memory(4 * kGiB, handles(1, 20))}).empty());  // the four unanswered evictions may still be in
                                                                     // progress
  now += 10min;
  for (int number = 1; number <= 5; ++number) {
    tracker.update(snapshot, now);
    tracker.ask(uid_of(number), {}, now);
    answer(number, {Answer::unanswered, "no answer"});
    CHECK(tracker.brake_until(now).has_value() == (number == 5));
  }
}

TEST_CASE_FIXTURE(Node, "the pods are unknown: no pod is evicted") {
  CHECK(round({release_memory(kGiB, handles(1, 20))}, nullptr, "the kubelet is away").empty());
  CHECK(count(decision::Outcome::unknown) == 1);
  CHECK(verdicts.front().why == "the kubelet is away");
}

TEST_CASE_FIXTURE(Node, "a strategy in shadow mode counts the pods that others really evict") {
  EvictionTracker shadow(limits(), 7);
  CHECK(round({release_memory(kGiB, {1})}).size() == 1);
  Node other;
  other.now = now;
  CHECK(other.round({release_memory(kGiB, {1, 2})}, &tracker).empty());
  CHECK(other.round({release_memory(2 * kGiB, {1, 2})}, &tracker) == Names{"pod-2"});
}

TEST_CASE_FIXTURE(Node, "ended pods are skipped, and a pod that is named twice is evicted once") {
  CHECK(round({release_memory(2 * kGiB, {77, 3, 3, 4})}) == Names{"pod-3", "pod-4"});
}
