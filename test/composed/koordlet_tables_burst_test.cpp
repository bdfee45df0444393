// SPDX-License-Identifier: Apache-2.0
// koordlet's tables of CPU burst: the shared pool, the next quota, the limiter.
#include <cmath>

#include "plugins/qos-cpu-burst/limiter.hpp"
#include "plugins/qos-cpu-burst/quota.hpp"
#include "plugins/qos-cpu-burst/share_pool.hpp"
#include "test/composed/koordlet_table.hpp"

using namespace koord;
using namespace koord::cpu_burst;
using slo::BurstPolicy;
using test::check_row;
using test::Expected;

namespace {

constexpr long long kBase = 200'000;  // quota for a limit of 2 cores
constexpr const char* kReadme = "qos-cpu-burst/README.md";

// 16 CPUs, 8 of them requested by an LSR pod; the node uses 10.
PoolState when_lsr_uses(double cores) { return state_of({16 - 8, 10 - cores, 50}); }

}  // namespace

TEST_CASE("koordlet's table: the state of the shared pool") {
  CHECK(when_lsr_uses(7) == PoolState::idle);
  CHECK(when_lsr_uses(5) == PoolState::overload);
  CHECK(when_lsr_uses(6.25) == PoolState::cooling);
}

TEST_CASE("koordlet's table: the next quota of a throttled container with 2 cores") {
  struct Row {
    const char* name;
    long long now;
    BurstPolicy policy;
    std::int64_t percent;
    bool limiter_allows;
    PoolState pool;
    Expected<long long> next;
  };
  const Row rows[] = {
      {"policy cpuBurstOnly", 400'000, BurstPolicy::cpu_burst_only, 300, true, PoolState::idle, kBase},
      {"the pool cools", 400'000, BurstPolicy::automatic, 300, true, PoolState::cooling, 400'000},
      {"the pool is overloaded", 400'000, BurstPolicy::automatic, 300, true, PoolState::overload, 320'000},
      {"overloaded, close to the base", 202'000, BurstPolicy::automatic, 300, true, PoolState::overload, kBase},
      {"period 0, so the limiter does not allow", 400'000, BurstPolicy::automatic, 300, false, PoolState::idle,
       320'000},
      {"percent 90", 400'000, BurstPolicy::automatic, 90, false, PoolState::idle, kBase},
      {"up by a fifth", 400'000, BurstPolicy::automatic, 300, true, PoolState::idle, 480'000},
      {"up to the ceiling", 590'000, BurstPolicy::automatic, 300, true, PoolState::idle, 600'000},
  };
  for (const Row& row : rows) {
    const slo::CpuBurst settings{row.policy, 1000, row.percent, -1, 50};
    // A step here multiplies the limit by a factor, from which the host computes the quota.
    const Operation operation = allowed(wanted(settings, row.limiter_allows, 0.5), row.pool);
    const double scale = next_scale(operation, static_cast<double>(row.now) / kBase, settings);
    check_row(row.name, std::llround(scale * kBase), row.next);
  }
}

TEST_CASE("koordlet's table: the limiter after 10 s") {
  struct Row {
    std::int64_t period, percent;
    double start, usage;
    std::int64_t tokens;
  };
  for (const Row& row : {Row{100, 150, 1.0, 150, 4500}, Row{100, 150, 0.01, 200, -950}, Row{10, 150, 0.01, 200, -500},
                         Row{100, 150, 0.1, 40, 1100}, Row{100, 150, 0.9, 40, 5000}}) {
    CAPTURE(row.tokens);
    Limiter limiter(row.period, row.percent, row.start, 0);
    limiter.take(row.usage, 10'000'000'000);
    CHECK(limiter.tokens() == doctest::Approx(static_cast<double>(row.tokens)));
    CHECK(limiter.allows() == (row.tokens > 0));
  }
}

TEST_CASE("koordlet's table: a burst above the quota is at most the quota") {
  CHECK(test::is_documented({kReadme, "A burst is at most the quota."}));
  CHECK(quota_of(5000, 100'000) == 500'000);
}
