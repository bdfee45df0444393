// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "core/analysis/verdict_tracker.hpp"

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

constexpr Subject kCart = 1, kEtl = 2, kWeb = 3;
const Time kBegin(1000s);

Finding interfered(std::vector<Suspect> suspects = {{SuspectKind::container, kEtl, 0.04, 1}}) {
  return {
      .kind = Kind::interfered, .statistic = {"held_up_by_others", 0.04, 0.003, 0.01}, .suspects = std::move(suspects)};
}

// Adds one window per second. 'i': interfered, 'q': throttled by its own quota, '.': no finding.
std::vector<Change> changes(VerdictTracker& tracker, std::string_view windows, int first = 0) {
  std::vector<Change> all;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    Finding finding;
    if (windows[i] == 'i') finding = interfered();
    if (windows[i] == 'q') finding.kind = Kind::self_quota;
    all.push_back(tracker.add(kBegin + (first + static_cast<int>(i)) * 1s, finding));
  }
  return all;
}

}  // namespace

TEST_CASE("a verdict is confirmed by three of the last five windows") {
  for (std::string_view windows : {"iii", "ii.i", "i.i.i", "..i.ii"}) {
    CAPTURE(std::string(windows));
    VerdictTracker tracker(kCart);
    const std::vector<Change> all = changes(tracker, windows);
    CHECK(all.back() == Change::confirmed);
    for (std::size_t i = 0; i + 1 < all.size(); ++i) CHECK(all[i] == Change::none);
    CHECK(tracker.verdict()->kind == Kind::interfered);
    CHECK(tracker.verdict()->victim == kCart);
    CHECK(tracker.verdict()->windows_over == 3);
  }
}

TEST_CASE("rarer findings, or findings of different kinds, confirm no verdict") {
  for (std::string_view windows : {"ii", "i..i..i..i", "iq.iq.iq."}) {
    CAPTURE(std::string(windows));
    VerdictTracker tracker(kCart);
    changes(tracker, windows);
    CHECK(tracker.verdict() == nullptr);
  }
}

TEST_CASE("a verdict is cleared ten seconds after the last finding, once") {
  VerdictTracker tracker(kCart);
  const std::vector<Change> all = changes(tracker, "iii............");
  CHECK(std::count(all.begin(), all.end(), Change::cleared) == 1);
  CHECK(all[12] == Change::cleared);
  CHECK(tracker.verdict() == nullptr);
  CHECK(tracker.last()->from == kBegin);
  CHECK(tracker.last()->to == kBegin + 2s);
}

TEST_CASE("single quiet windows do not end a verdict, but are counted") {
  VerdictTracker tracker(kCart);
  changes(tracker, "iii.........i.........i");
  REQUIRE(tracker.verdict() != nullptr);
  CHECK(tracker.verdict()->windows_over == 5);
  CHECK(tracker.verdict()->windows_seen == 23);
  CHECK(tracker.verdict()->to == kBegin + 22s);
}

TEST_CASE("a finding of another kind replaces it once that is confirmed, too") {
  VerdictTracker tracker(kCart);
  changes(tracker, "iiiqq");
  CHECK(tracker.verdict()->kind == Kind::interfered);
  CHECK(changes(tracker, "q", 5) == std::vector{Change::confirmed});
  CHECK(tracker.verdict()->kind == Kind::self_quota);
}

TEST_CASE("a verdict has the averages of the windows with a finding, the suspects' order by them") {
  VerdictTracker tracker(kCart);
  const std::vector<Suspect> first = {{SuspectKind::container, kEtl, 0.03, 1}};
  const std::vector<Suspect> second = {{SuspectKind::container, kWeb, 0.06, 2},
                                       {SuspectKind::container, kEtl, 0.03, 1}};
  tracker.add(kBegin, interfered(first));
  tracker.add(kBegin + 1s, interfered(second));
  tracker.add(kBegin + 2s, interfered(second));
  const Verdict& verdict = *tracker.verdict();
  REQUIRE(verdict.suspects.size() == 2);
  CHECK(verdict.suspects[0].subject == kWeb);
  CHECK(verdict.suspects[0].waited == doctest::Approx(0.04));
  CHECK(verdict.suspects[1].waited == doctest::Approx(0.03));
  CHECK(verdict.statistic.value == doctest::Approx(0.04));
  CHECK(verdict.statistic.baseline == doctest::Approx(0.003));
}

TEST_CASE("a verdict that stands for long shows what holds the container up now, and forgets a suspect that ended") {
  VerdictTracker tracker(kCart);
  int second = 0;
  const auto add = [&](std::vector<Suspect> suspects, int windows) {
    for (int i = 0; i < windows; ++i) tracker.add(kBegin + ++second * 1s, interfered(suspects));
  };
  add({{SuspectKind::container, kEtl, 0.9, 1}}, 1000);
  add({{SuspectKind::outside, 0, 0.04, 0}}, 9);
  CHECK(tracker.verdict()->suspects.size() == 2);
  add({{SuspectKind::outside, 0, 0.04, 0}}, 1);
  REQUIRE(tracker.verdict()->suspects.size() == 1);
  CHECK(tracker.verdict()->suspects[0].kind == SuspectKind::outside);
  CHECK(tracker.verdict()->suspects[0].waited == doctest::Approx(0.04));
  CHECK(tracker.verdict()->windows_over == 1010);
  // Findings do not have to follow each other immediately.
  second += 9;
  add({{SuspectKind::kernel, 0, 0.02, 0}}, 1);
  CHECK(tracker.verdict()->suspects.size() == 1);
  CHECK(tracker.verdict()->suspects[0].kind == SuspectKind::kernel);
}

TEST_CASE("figures of two names have no average: those with the last name count, waits go on") {
  VerdictTracker tracker(kCart);
  int second = 0;
  const auto add = [&](Statistic statistic) {
    Finding finding = interfered();
    finding.statistic = statistic;
    tracker.add(kBegin + ++second * 1s, finding);
  };
  for (int i = 0; i < 4; ++i) add({"held_up_by_others", 0.04, 0.003, 0.01});
  add({"lost_throughput", 0.2, 0, 0.15});
  CHECK(tracker.verdict()->statistic == Statistic{"lost_throughput", 0.2, 0, 0.15});
  add({"lost_throughput", 0.4, 0, 0.15});
  CHECK(tracker.verdict()->statistic.value == doctest::Approx(0.3));
  add({"held_up_by_others", 0.09, 0.003, 0.01});
  CHECK(tracker.verdict()->statistic.value == doctest::Approx(0.05));
  CHECK(tracker.verdict()->suspects[0].waited == doctest::Approx(0.04));
  CHECK(tracker.verdict()->windows_over == 7);
}

TEST_CASE("the statistic of a verdict is that of its own windows, not of an earlier verdict") {
  VerdictTracker tracker(kCart);
  changes(tracker, "iii");
  Finding throttled{.kind = Kind::self_quota, .statistic = {"held_up_by_others", 0.4, 0, 0.01}};
  for (int i = 3; i < 6; ++i) tracker.add(kBegin + i * 1s, throttled);
  REQUIRE(tracker.verdict()->kind == Kind::self_quota);
  CHECK(tracker.verdict()->statistic.value == doctest::Approx(0.4));
}
