// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/cache_rule.hpp"

#include <doctest/doctest.h>

using namespace koord::analysis;

namespace {

constexpr Subject kCart = 1, kEtl = 2, kScan = 3;
constexpr UsualCpi kUsual{1.0, 0.05};
constexpr double kNoLoad = 0;  // the container's own load does not change

// A window of a container that uses half a CPU with 1.5 cycles per instruction.
CacheWindow slow(double cpi = 1.5, double usage = 0.5) {
  return {.subject = kCart, .is_counted = true, .usage = usage, .cycles = cpi * 1e9, .instructions = 1e9};
}

}  // namespace

TEST_CASE("a container with too many cycles per instruction has a suspect with which they rise") {
  const Finding finding = judge_cache(slow(), kUsual, kNoLoad, {{kEtl, 1.5, 0.8}});
  CHECK(finding.kind == Kind::interfered);
  CHECK(finding.method == Method::suspected);
  CHECK(finding.statistic.name == "cycles_per_instruction");
  CHECK(finding.statistic.value == doctest::Approx(1.5));
  CHECK(finding.statistic.baseline == doctest::Approx(1));
  CHECK(finding.statistic.threshold == doctest::Approx(1.1));
  REQUIRE(finding.suspects.size() == 1);
  CHECK(finding.suspects[0].subject == kEtl);
  CHECK(finding.suspects[0].usage == 1.5);
}

TEST_CASE("too many are more than mean and two deviations, and 5 % more than the mean") {
  struct {
    double deviation, cpi;
    Kind kind;
  } rows[] = {{0.05, 1.09, Kind::none},        {0.05, 1.11, Kind::interfered}, {0.001, 1.04, Kind::none},
              {0.001, 1.06, Kind::interfered}, {0.3, 1.59, Kind::none},        {0.3, 1.61, Kind::interfered}};
  for (const auto& row : rows) {
    CAPTURE(row.deviation);
    CAPTURE(row.cpi);
    CHECK(judge_cache(slow(row.cpi), {1, row.deviation}, kNoLoad, {{kEtl, 1.5, 0.8}}).kind == row.kind);
  }
}

TEST_CASE("a suspect follows the cycles per instruction closely enough, and uses enough CPU") {
  struct {
    double usage, correlation;
    Kind kind;
  } rows[] = {{1.5, 0.49, Kind::none}, {1.5, 0.5, Kind::interfered},  {0.24, 0.9, Kind::none},
              {1.5, -0.9, Kind::none}, {0.25, 0.9, Kind::interfered}, {1.5, -1, Kind::none}};
  for (const auto& row : rows) {
    CAPTURE(row.usage);
    CAPTURE(row.correlation);
    CHECK(judge_cache(slow(), kUsual, kNoLoad, {{kEtl, row.usage, row.correlation}}).kind == row.kind);
  }
}

TEST_CASE("no container is accused without a correlation: the container's own code may have changed") {
  CHECK(judge_cache(slow(), kUsual, kNoLoad, {}).kind == Kind::none);
  CHECK(judge_cache(slow(), kUsual, kNoLoad, {{kEtl, 1.5, 0.2}}).suspects.empty());
}

TEST_CASE("a container has no suspect while its own load rises with its cycles") {
  CHECK(judge_cache(slow(), kUsual, 2.1, {{kEtl, 1.5, 0.8}}).kind == Kind::none);
  CHECK(judge_cache(slow(), kUsual, 1.9, {{kEtl, 1.5, 0.8}}).kind == Kind::interfered);
  CHECK(judge_cache(slow(), kUsual, -5, {{kEtl, 1.5, 0.8}}).kind == Kind::interfered);
}

TEST_CASE("the CPU time of the cycles above the usual ones is divided by the squares of the correlations") {
  const Finding one = judge_cache(slow(), kUsual, kNoLoad, {{kEtl, 1.5, 0.8}});
  const double lost = 0.5 * (1 - 1 / 1.5);
  CHECK(one.suspects[0].waited == doctest::Approx(0.64 * lost));
  CHECK(one.unexplained == doctest::Approx(0.36 * lost));
  const Finding two = judge_cache(slow(), kUsual, kNoLoad, {{kScan, 1, 0.6}, {kEtl, 1.5, 0.9}});
  REQUIRE(two.suspects.size() == 2);
  CHECK(two.suspects[0].subject == kEtl);
  CHECK(two.suspects[0].waited + two.suspects[1].waited == doctest::Approx(lost));
  CHECK(two.unexplained == doctest::Approx(0));
}

TEST_CASE("cycles per instruction are unknown without counters, without instructions and with little CPU") {
  const CacheRule rule;
  CHECK(cpi_of(slow(), rule) == doctest::Approx(1.5));
  CHECK(cpi_of(slow(1.5, 0.24), rule) == 0);
  CacheWindow window = slow();
  window.is_counted = false;
  CHECK(cpi_of(window, rule) == 0);
  window = slow();
  window.instructions = 0;
  CHECK(cpi_of(window, rule) == 0);
}

TEST_CASE("a workload that is not known yet is not judged") {
  CHECK(judge_cache(slow(100), {}, kNoLoad, {{kEtl, 1.5, 0.9}}).kind == Kind::none);
}
