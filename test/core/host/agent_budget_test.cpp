// SPDX-License-Identifier: Apache-2.0
#include "core/host/agent_budget.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::host;
using namespace std::chrono_literals;

namespace {

// Samples an agent with a budget of 0.1 cores each 5 s.
struct AgentBudgetFixture {
  AgentBudget budget;
  Time now{};
  Duration cpu{};

  AgentBudgetFixture() { budget.measure(now, cpu, 100); }
  bool sample(double cores) {
    now += 5s;
    cpu += std::chrono::duration_cast<Duration>(std::chrono::duration<double>(5 * cores));
    return budget.measure(now, cpu, 100);
  }
  void sample_often(unsigned times, double cores) {
    for (unsigned i = 0; i < times; ++i) sample(cores);
  }
};

}  // namespace

TEST_CASE_FIXTURE(AgentBudgetFixture, "an agent within its budget ticks at its periods") {
  sample_often(20, 0.09);
  CHECK(budget.slowdown() == 1);
  CHECK(*budget.cores() == doctest::Approx(0.09));
}

TEST_CASE_FIXTURE(AgentBudgetFixture,
                  "an agent above its budget in three polls slows down to a half, and further to at most an eighth") {
  CHECK_FALSE(sample(0.2));
  CHECK_FALSE(sample(0.2));
  CHECK(sample(0.2));
  CHECK(budget.slowdown() == 2);
  sample_often(30, 0.2);
  CHECK(budget.slowdown() == 8);
}

TEST_CASE_FIXTURE(AgentBudgetFixture, "a moment beyond it is no habit") {
  for (int i = 0; i < 10; ++i) {
    sample(0.5), sample(0.5);
    sample(0.05);
  }
  CHECK(budget.slowdown() == 1);
}

TEST_CASE_FIXTURE(AgentBudgetFixture,
                  "the rate rises again in steps, and only if twice as many ticks would stay within the budget") {
  sample_often(6, 0.2);
  REQUIRE(budget.slowdown() == 4);
  sample_often(10, 0.06);  // twice this usage exceeds the budget
  CHECK(budget.slowdown() == 4);
  sample_often(3, 0.03);
  CHECK(budget.slowdown() == 2);
  sample_often(3, 0.03);
  CHECK(budget.slowdown() == 1);
  sample_often(3, 0.03);
  CHECK(budget.slowdown() == 1);
}

TEST_CASE_FIXTURE(AgentBudgetFixture, "after the end of a plugin's process one poll has no value") {
  sample_often(2, 0.2);
  now += 5s;
  cpu = 1s;
  CHECK_FALSE(budget.measure(now, cpu, 100));
  CHECK_FALSE(budget.cores());
}

TEST_CASE_FIXTURE(AgentBudgetFixture, "a budget that is lifted brings all periods back at once") {
  sample_often(6, 0.2);
  now += 5s;
  CHECK(budget.measure(now, cpu, 0));
  CHECK(budget.slowdown() == 1);
}
