// SPDX-License-Identifier: Apache-2.0
#include "core/base/problem_tracker.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace std::chrono_literals;
using Change = ProblemTracker::Change;
using Texts = std::vector<std::string>;

TEST_CASE("a problem is reported when it begins, when its text changes and when it is over") {
  ProblemTracker tracker;
  CHECK(tracker.update("disk", "") == Change::none);
  CHECK(tracker.update("disk", "full") == Change::begun);
  CHECK(tracker.update("disk", "full") == Change::none);
  CHECK(tracker.update("disk", "gone") == Change::begun);
  CHECK(tracker.update("disk", "") == Change::over);
  CHECK(tracker.update("disk", "") == Change::none);
  CHECK(tracker.update("disk", "gone") == Change::begun);
}

TEST_CASE("each subject has a problem of its own") {
  ProblemTracker tracker;
  CHECK(tracker.update("a", "full") == Change::begun);
  CHECK(tracker.update("b", "full") == Change::begun);
  CHECK(tracker.update("a", "") == Change::over);
  CHECK_FALSE(tracker.has("a"));
  CHECK(tracker.has("b"));
  CHECK(tracker.update("b", "full") == Change::none);
}

TEST_CASE("a lasting problem is reported again only after the given time") {
  ProblemTracker tracker(10min);
  CHECK(tracker.update("a", "full", Time(0min)) == Change::begun);
  CHECK(tracker.update("a", "full", Time(9min)) == Change::none);
  CHECK(tracker.update("a", "full", Time(10min)) == Change::begun);
  CHECK(tracker.update("a", "full", Time(19min)) == Change::none);
  CHECK(tracker.update("a", "", Time(30min)) == Change::over);
}

TEST_CASE("a tracker with a time forgets subjects that are not updated, so their number is bounded") {
  ProblemTracker tracker(10min);
  tracker.update("old", "full", Time(0min));
  tracker.update("newer", "full", Time(5min));
  tracker.update("newest", "full", Time(10min));
  CHECK_FALSE(tracker.has("old"));
  CHECK(tracker.has("newer"));
}

TEST_CASE("a set of problems reports those that the last one lacked, each once and in order") {
  ProblemTracker tracker;
  CHECK(tracker.begun({"c", "a", "c"}) == Texts{"c", "a"});
  CHECK(tracker.begun({"a", "b", "c"}) == Texts{"b"});
  CHECK(tracker.begun({"a"}).empty());
  CHECK(tracker.begun({"c", "a"}) == Texts{"c"});
  CHECK(tracker.begun({}).empty());
  CHECK(tracker.empty());
}

TEST_CASE("a forgotten subject is not reported as over, and its problem is new again") {
  ProblemTracker tracker;
  tracker.update("pod-a", "full");
  tracker.update("pod-b", "full");
  tracker.keep([](const std::string& subject) { return subject == "pod-b"; });
  CHECK(tracker.update("pod-a", "") == Change::none);
  CHECK(tracker.update("pod-a", "full") == Change::begun);
  CHECK(tracker.update("pod-b", "full") == Change::none);
}
