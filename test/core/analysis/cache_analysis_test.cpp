// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/cache_analysis.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

constexpr Subject kCart = 1, kEtl = 2, kScan = 3;

CacheWindow window(Subject subject, double usage, double cpi) {
  return {
      .subject = subject, .is_counted = true, .usage = usage, .cycles = usage * cpi * 1e9, .instructions = usage * 1e9};
}

// A container cart and its neighbour etl, which is idle until it slows cart down. The CPI of cart varies a little.
struct CacheFixture {
  std::vector<VerdictEvent> next(double cart_cpi, double etl_usage) {
    const double noise = ++windows % 2 == 0 ? 0.02 : -0.02;
    at += 5s;
    return analysis.add(at, {{"shop/cart", window(kCart, 0.5, cart_cpi + noise), "pods/cart/app"},
                             {"batch/etl", window(kEtl, etl_usage, 2), "pods/etl/main"}});
  }
  void learn(int n = 730) {
    for (int i = 0; i < n; ++i) CHECK(next(1, 0.05).empty());
  }
  // Returns the number of windows until a verdict is confirmed; 0: no verdict in a minute and a half.
  int confirm() {
    for (int n = 1; n <= 18; ++n)
      if (!next(1.5, 1.5).empty()) return n;
    return 0;
  }
  CacheAnalysis analysis;
  Time at{1000s};
  int windows = 0;
};

}  // namespace

TEST_CASE_FIXTURE(CacheFixture, "a container that is slowed down has a verdict after eight windows of five seconds") {
  learn();
  CHECK(confirm() == 8);
  REQUIRE(analysis.standing().size() == 1);
  const Verdict verdict = analysis.standing()[0];
  CHECK(verdict.victim == kCart);
  CHECK(verdict.kind == Kind::interfered);
  CHECK(verdict.method == Method::suspected);
  REQUIRE(verdict.suspects.size() == 1);
  CHECK(verdict.suspects[0].subject == kEtl);
  CHECK(verdict.suspects[0].usage == doctest::Approx(1.5));
  CHECK(verdict.statistic.baseline == doctest::Approx(1).epsilon(0.05));
}

TEST_CASE_FIXTURE(CacheFixture, "the verdict ends 30 s after the last window with too many cycles") {
  learn();
  REQUIRE(confirm() > 0);
  for (int i = 0; i < 5; ++i) CHECK(next(1, 0.05).empty());
  const auto events = next(1, 0.05);
  REQUIRE(events.size() == 1);
  CHECK(events[0].change == Change::cleared);
  CHECK(analysis.standing().empty());
}

TEST_CASE_FIXTURE(CacheFixture, "a workload is not judged before an hour, nor before a hundred windows") {
  learn(700);
  CHECK(confirm() == 0);
  CacheFixture slow;
  for (int i = 0; i < 80; ++i) {
    slow.at += 60s;
    slow.next(1, 0.05);
  }
  CHECK(slow.confirm() == 0);
}

TEST_CASE_FIXTURE(CacheFixture, "seven of twelve windows with too many cycles cause no verdict") {
  learn();
  for (int i = 0; i < 60; ++i) {
    const bool is_slow = i % 12 < 7;
    CHECK(next(is_slow ? 1.5 : 1, is_slow ? 1.5 : 0.05).empty());
  }
}

TEST_CASE_FIXTURE(CacheFixture, "windows with an active verdict do not change the usual cycles") {
  learn();
  REQUIRE(confirm() > 0);
  const double usual = analysis.save()[1].mean;
  for (int i = 0; i < 60; ++i) next(1.5, 1.5);
  REQUIRE(analysis.standing().size() == 1);
  CHECK(analysis.save()[1].mean == usual);
}

TEST_CASE_FIXTURE(CacheFixture, "a slow-down without a change for 20 minutes has no correlation any more, and ends") {
  learn();
  REQUIRE(confirm() > 0);
  for (int i = 0; i < 250; ++i) next(1.5, 1.5);
  CHECK(analysis.standing().empty());
}

TEST_CASE_FIXTURE(CacheFixture,
                  "a neighbour that starts long after the cycles rose is not a suspect until they rise with it again") {
  learn();
  for (int i = 0; i < 40; ++i) CHECK(next(1.5, 0.05).empty());
  for (int i = 0; i < 100; ++i) CHECK(next(1.5, 1.5).empty());
  for (int i = 0; i < 235; ++i) CHECK(next(1, 0.05).empty());
  CHECK(confirm() > 0);
}

TEST_CASE_FIXTURE(CacheFixture, "cycles that rise without an effect of another container cause no verdict") {
  learn();
  for (int i = 0; i < 60; ++i) CHECK(next(1.5, 0.05).empty());
  CHECK(analysis.standing().empty());
}

TEST_CASE("a container that begins with the slow-down is a suspect, one that had no counters before is not yet") {
  for (const bool is_listed : {false, true}) {
    CacheAnalysis analysis;
    Time at{};
    int confirmed = 0;
    for (int i = 0; i < 750; ++i) {
      const bool is_slow = i >= 730;
      const double cpi = (is_slow ? 1.5 : 1) + (i % 2 == 0 ? 0.02 : -0.02);
      std::vector<CacheSubject> subjects = {{"shop/cart", window(kCart, 0.5, cpi)}};
      if (is_slow) subjects.push_back({"batch/etl", window(kEtl, 1.5, 2)});
      if (!is_slow && is_listed) subjects.push_back({"batch/etl", {.subject = kEtl}});
      confirmed += static_cast<int>(analysis.add(at += 5s, subjects).size());
    }
    CAPTURE(is_listed);
    CHECK(confirmed == (is_listed ? 0 : 1));
  }
}

TEST_CASE("a cgroup that is below another's, or above it, is no suspect about it") {
  struct {
    std::string cgroup;
    std::size_t verdicts;
  } rows[] = {{"system.slice/db.service/worker", 0},
              {"system.slice", 0},
              {"system.slice/db.service2", 1},
              {"system.slice/other.service", 1}};
  for (const auto& row : rows) {
    CacheAnalysis analysis;
    Time at{};
    std::size_t confirmed = 0;
    for (int i = 0; i < 745; ++i) {
      const bool is_slow = i >= 730;
      const double cpi = (is_slow ? 1.5 : 1) + (i % 2 == 0 ? 0.02 : -0.02);
      confirmed += analysis
                       .add(at += 5s, {{"db", window(kCart, 0.5, cpi), "system.slice/db.service"},
                                       {"other", window(kEtl, is_slow ? 1.5 : 0.05, 2), row.cgroup}})
                       .size();
    }
    CAPTURE(row.cgroup);
    CHECK(confirmed == row.verdicts);
  }
}

TEST_CASE_FIXTURE(CacheFixture, "the usual cycles are kept over a restart, and forgotten after a day") {
  learn();
  const std::vector<SavedCpi> saved = analysis.save();
  REQUIRE(saved.size() == 1);
  CacheFixture next;
  next.at = at + 1h;
  next.analysis.restore(saved, next.at);
  CHECK(next.analysis.save() == saved);
  // The correlation needs ten minutes of samples from this agent.
  for (int i = 0; i < 120; ++i) next.next(1, 0.05);
  CHECK(next.confirm() == 8);
  CacheFixture late;
  late.analysis.restore(saved, at + 25h);
  CHECK(late.analysis.save().empty());
}

TEST_CASE_FIXTURE(CacheFixture, "a container that has ended has no verdict, and values that are no numbers harm none") {
  learn();
  REQUIRE(confirm() > 0);
  CHECK(analysis.add(at += 5s, {}).empty());
  CHECK(analysis.standing().empty());
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, inf, -inf, -1.0, 0.0})
    for (int i = 0; i < 20; ++i)
      analysis.add(at += 5s, {{"shop/scan", window(kScan, 1, bad)}, {"x", window(9, bad, 1)}});
  for (const SavedCpi& saved : analysis.save()) CHECK(saved.mean > 0);
  CHECK(analysis.standing().empty());
}
