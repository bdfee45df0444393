// SPDX-License-Identifier: Apache-2.0
#include "core/host/budget.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <ctime>

#include "core/host/process_use.hpp"

using namespace koord;
using namespace koord::host;
using namespace std::chrono_literals;

namespace {

// Samples once per second a plugin in process 7 with limits of half a core, 100 MiB and 100 series.
struct BudgetFixture {
  Budget budget;
  Time now{};
  Use use{.processes = {7}, .memory_bytes = 0};

  Budget::Verdict sample(double cores = 0, std::uint64_t mebibytes = 0, std::uint64_t series = 0) {
    now += 1s;
    use.cpu += std::chrono::duration_cast<Duration>(std::chrono::duration<double>(cores));
    use.memory_bytes = mebibytes << 20;
    use.series = series;
    return budget.measure(now, use, {.cpu_millis = 500, .memory_bytes = 100 << 20, .series = 100});
  }
  unsigned slowdown() const { return budget.status().slowdown; }
};

}  // namespace

TEST_CASE_FIXTURE(BudgetFixture, "the first poll of a process knows no CPU yet, the next one does") {
  sample(0.3);
  CHECK_FALSE(budget.status().cpu_cores);
  sample(0.3);
  CHECK(*budget.status().cpu_cores == doctest::Approx(0.3));
  use.processes = {8};
  use.cpu = {};
  sample(0.3);
  CHECK_FALSE(budget.status().cpu_cores);
}

TEST_CASE_FIXTURE(
    BudgetFixture,
    "four fifths of the CPU for three polls gives one warning and makes ticks slower, up to eight times") {
  sample();
  CHECK(sample(0.4).warning.empty());
  CHECK(sample(0.4).warning.empty());
  CHECK(slowdown() == 1);
  CHECK(sample(0.4).warning == "uses 0.40 of its 0.50 cores");
  CHECK(slowdown() == 2);
  CHECK(sample(0.4).warning.empty());
  for (int i = 0; i < 5; ++i) sample(0.4);
  CHECK(slowdown() == 8);
  CHECK(budget.status().soft_breaches == 1);
  CHECK(budget.status().hard_breaches == 0);
}

TEST_CASE_FIXTURE(
    BudgetFixture,
    "ticks near their deadline for three polls give a warning and get slower, until they are short again") {
  auto sample_tick = [&](Duration tick) {
    use.tick = tick;
    now += 1s;
    return budget.measure(now, use, {.tick = 1s});
  };
  sample_tick(850ms);
  CHECK(sample_tick(850ms).warning.empty());
  const Budget::Verdict third = sample_tick(850ms);
  CHECK(third.warning == "takes 850ms a tick of at most 1s");
  CHECK(third.breach.empty());  // the deadline check handles this case
  CHECK(slowdown() == 2);
  sample_tick(100ms);
  CHECK(slowdown() == 1);
  CHECK(budget.status().tick_deadline == 1s);
}

TEST_CASE_FIXTURE(BudgetFixture, "ticks become faster again if twice the usage would be low enough") {
  sample();
  for (int i = 0; i < 4; ++i) sample(0.4);
  REQUIRE(slowdown() == 4);
  sample(0.3);
  CHECK(slowdown() == 4);
  sample(0.1);
  CHECK(slowdown() == 2);
  sample(0.1);
  sample(0.1);
  CHECK(slowdown() == 1);
}

TEST_CASE_FIXTURE(BudgetFixture, "a moment at the limit is nothing, six polls are a breach") {
  sample();
  for (int i = 0; i < 5; ++i) CHECK(sample(0.5).breach.empty());
  CHECK(sample(0.5).breach == "used all of its 0.50 cores for 6 samples in a row");
  CHECK(budget.status().hard_breaches == 1);
  CHECK(sample(0.5).breach.empty());  // the next session has the same number
}

TEST_CASE_FIXTURE(BudgetFixture, "memory is warned of at four fifths, and a breach at its limit") {
  sample();
  CHECK(sample(0, 79).warning.empty());
  CHECK(sample(0, 80).warning == "uses 80 MiB of its 100 MiB");
  CHECK(slowdown() == 2);
  CHECK(sample(0, 100).breach == "uses 100 MiB, may use 100 MiB");
}

TEST_CASE_FIXTURE(BudgetFixture, "many series are warned of, and slow nothing down") {
  CHECK(sample(0, 0, 80).warning == "has 80 of its 100 series");
  CHECK(slowdown() == 1);
}

TEST_CASE_FIXTURE(BudgetFixture, "the same is not warned of again within ten minutes, and counted all the same") {
  CHECK_FALSE(sample(0, 80).warning.empty());
  sample(0, 10);
  CHECK(sample(0, 80).warning.empty());
  CHECK(budget.status().soft_breaches == 2);
  sample(0, 10);
  now += 10min;
  CHECK_FALSE(sample(0, 80).warning.empty());
}

TEST_CASE("a plugin without a limit is never near it") {
  Budget budget;
  Use use{.processes = {7}, .memory_bytes = std::uint64_t{1} << 40, .series = 1'000'000};
  for (int i = 1; i < 10; ++i) {
    use.cpu = std::chrono::seconds(100 * i);
    Budget::Verdict verdict = budget.measure(Time(std::chrono::seconds(i)), use, {});
    CHECK(verdict.warning.empty());
    CHECK(verdict.breach.empty());
  }
}

TEST_CASE("the kernel reports the usage of our processes") {
  auto before = use_of_process(::getpid());
  REQUIRE(before);
  CHECK(before->memory_bytes > 100'000);
  const std::clock_t begin = std::clock();
  while (std::clock() - begin < CLOCKS_PER_SEC / 10) {
  }
  CHECK(use_of_process(::getpid())->cpu - before->cpu >= 80ms);
  CHECK_FALSE(use_of_process(-1));
}
