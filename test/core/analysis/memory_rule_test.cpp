// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/analysis/memory_analysis.hpp"

using namespace koord;
using namespace koord::analysis;
using namespace std::chrono_literals;

namespace {

constexpr Subject kCart = 1, kEtl = 2, kCache = 3;

MemorySharer sharer(Subject subject, double reclaimed, double share) {
  return {SuspectKind::container, subject, reclaimed, share, 0, 0, 1e9 * share};
}

// A window with 200 refaults/s of 0.2 ms, which is 40 ms/s.
MemoryWindow refaulting(MemoryLimit limit, std::vector<MemorySharer> sharers = {}) {
  return {.subject = kCart, .refaults = 200, .read_time = 0.0002, .limit = limit, .sharers = std::move(sharers)};
}

}  // namespace

TEST_CASE("the figure for harm is the time for reading pages again, by refaults and the time of a read") {
  const Finding finding = judge_memory(refaulting(MemoryLimit::none), 0);
  CHECK(finding.statistic.name == "refault_time");
  CHECK(finding.statistic.value == doctest::Approx(0.040));
  CHECK(finding.statistic.threshold == doctest::Approx(0.010));
  CHECK(finding.kind == Kind::none);
}

TEST_CASE("less than 1 % of the time, or than 2.5 times that of quiet windows, is no harm") {
  MemoryWindow window = refaulting(MemoryLimit::own);
  window.refaults = 49;
  CHECK(judge_memory(window, 0).kind == Kind::none);
  window.refaults = 51;
  CHECK(judge_memory(window, 0).kind == Kind::self_memory_limit);
  CHECK(judge_memory(refaulting(MemoryLimit::own), 0.015).kind == Kind::self_memory_limit);
  CHECK(judge_memory(refaulting(MemoryLimit::own), 0.017).kind == Kind::none);
}

TEST_CASE("refaults of unknown cost cause no finding") {
  MemoryWindow window = refaulting(MemoryLimit::own);
  window.read_time = 0;
  CHECK(judge_memory(window, 0).kind == Kind::none);
}

TEST_CASE("a container that meets its own limit is at fault itself, even if others need memory") {
  const Finding finding = judge_memory(refaulting(MemoryLimit::own, {sharer(kEtl, 1000, 0.9)}), 0);
  CHECK(finding.kind == Kind::self_memory_limit);
  CHECK(finding.suspects.empty());
  CHECK(finding.self == doctest::Approx(0.040));
}

TEST_CASE("for a limit above it, the container that allocates and has much memory is at fault") {
  struct {
    const char* name;
    MemorySharer victim, etl, cache;
    Kind kind;
    Subject first;
  } rows[] = {
      {"a stream through the page cache", sharer(kCart, 100, 0.3), sharer(kEtl, 5000, 0.6), sharer(kCache, 0, 0.1),
       Kind::shared_parent, kEtl},
      {"a large decoy that needs nothing", sharer(kCart, 100, 0.1), sharer(kEtl, 5000, 0.2), sharer(kCache, 0, 0.7),
       Kind::shared_parent, kEtl},
      {"a small decoy that needs a lot", sharer(kCart, 100, 0.2), sharer(kEtl, 3000, 0.78), sharer(kCache, 4000, 0.02),
       Kind::shared_parent, kEtl},
      {"the container itself", sharer(kCart, 5000, 0.6), sharer(kEtl, 10, 0.3), sharer(kCache, 0, 0.1),
       Kind::self_memory_limit, 0},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    const Finding finding = judge_memory(refaulting(MemoryLimit::ancestor, {row.victim, row.etl, row.cache}), 0);
    CHECK(finding.kind == row.kind);
    CHECK(finding.method == Method::estimated);
    if (row.first == 0) continue;
    REQUIRE_FALSE(finding.suspects.empty());
    CHECK(finding.suspects[0].subject == row.first);
    double all = finding.self;
    for (const Suspect& suspect : finding.suspects) all += suspect.waited;
    CHECK(all == doctest::Approx(0.040));
  }
}

TEST_CASE("on a node short of memory the containers that cause reclaim are at fault") {
  const Finding finding =
      judge_memory(refaulting(MemoryLimit::node, {sharer(kCart, 10, 0.2), sharer(kEtl, 3000, 0.5)}), 0);
  CHECK(finding.kind == Kind::interfered);
  CHECK(finding.method == Method::estimated);
  CHECK(finding.suspects[0].subject == kEtl);
}

TEST_CASE("if only kswapd frees pages, containers that grow and read pages again are suspects") {
  MemorySharer growing = sharer(kEtl, 0, 0.3), still = sharer(kCache, 0, 0.5);
  growing.growth = 50e6;
  still.growth = -10e6;
  const Finding finding = judge_memory(refaulting(MemoryLimit::node, {sharer(kCart, 0, 0.2), growing, still}), 0);
  CHECK(finding.kind == Kind::interfered);
  CHECK(finding.method == Method::suspected);
  REQUIRE(finding.suspects.size() == 1);
  CHECK(finding.suspects[0].subject == kEtl);
}

TEST_CASE("a shortage without a cause has no verdict") {
  CHECK(judge_memory(refaulting(MemoryLimit::node), 0).kind == Kind::none);
  CHECK(judge_memory(refaulting(MemoryLimit::ancestor, {sharer(kCart, 0, 0), sharer(kEtl, 0, 0)}), 0).kind ==
        Kind::none);
}

TEST_CASE("a container at its memory limit has a verdict after three windows, and none when it has ended") {
  MemoryAnalysis analysis;
  std::vector<VerdictEvent> events;
  for (int i = 0; i < 3; ++i) events = analysis.add(Time(i * 1s), {{"shop/cart", refaulting(MemoryLimit::own)}});
  REQUIRE(events.size() == 1);
  CHECK(events[0].verdict.kind == Kind::self_memory_limit);
  CHECK(analysis.standing().size() == 1);
  CHECK(analysis.add(Time(3s), {}).empty());
  CHECK(analysis.standing().empty());
}

TEST_CASE("other rules for memory hold from the next window on") {
  MemoryAnalysis analysis;
  int second = 0;
  const auto add = [&] { analysis.add(Time(++second * 1s), {{"shop/cart", refaulting(MemoryLimit::own)}}); };
  for (int i = 0; i < 3; ++i) add();
  CHECK(analysis.standing().size() == 1);
  Rules rules;
  rules.memory.refault_time = 10;
  CHECK(analysis.set_rules(rules).size() == 1);
  for (int i = 0; i < 5; ++i) add();
  CHECK(analysis.standing().empty());
  rules = {};
  rules.confirmation.of_them = 1;
  analysis.set_rules(rules);
  add();
  CHECK(analysis.standing().size() == 1);
}

TEST_CASE(
    "a memory analysis that is restored during interference keeps its quiet level; a new one learns a wrong level") {
  // It reads pages again for 8 ms/s in quiet times and for 15 ms/s now: above the absolute limit, but less than 2.5
  // times the quiet value.
  const auto reads = [](double ms_per_second) {
    MemoryWindow window = refaulting(MemoryLimit::own);
    window.read_time = ms_per_second / 1000 / window.refaults;
    return MemorySubject{"shop/cart", window};
  };
  MemoryAnalysis before;
  for (int i = 0; i < 100; ++i) before.add(Time(i * 1s), {reads(8)});
  const auto text = write_baselines(before.save(Time(100s)), kMaxSavedBytes, BaselineOf::memory);
  const ReadBaselines read = read_baselines(text, BaselineOf::memory);
  REQUIRE(read.baselines.size() == 1);
  CHECK(read.baselines[0].windows == 100);
  CHECK(read_baselines(text).baselines.empty());

  MemoryAnalysis after, ignorant, offered;
  after.restore(read.baselines, Time(110s));
  offered.adopt(read.baselines, Time(110s));
  for (int i = 110; i < 115; ++i)
    for (MemoryAnalysis* each : {&after, &ignorant, &offered}) each->add(Time(i * 1s), {reads(15)});
  CHECK(after.standing().empty());
  CHECK(offered.standing().empty());
  CHECK(ignorant.standing().size() == 1);
  // An analysis that learnt 60 ms/s as quiet from these windows has no finding in them.
  for (int i = 115; i < 300; ++i)
    for (MemoryAnalysis* each : {&after, &ignorant}) each->add(Time(i * 1s), {reads(60)});
  CHECK(after.standing().size() == 1);
  CHECK(ignorant.standing().empty());

  MemoryAnalysis known;
  for (int i = 0; i < 100; ++i) known.add(Time(i * 1s), {reads(2)});
  const auto own = known.save(Time(100s));
  known.adopt(read.baselines, Time(100s));
  CHECK(known.save(Time(100s)) == own);
  MemoryAnalysis later;
  later.restore(read.baselines, Time(26h));
  CHECK(later.save(Time(26h)).empty());
}
