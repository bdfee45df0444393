// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-burst/cpu_burst.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "koordetector/plugin.h"

using namespace koord::cpu_burst;
using koord::slo::BurstPolicy;
using koord::strategy::Intent;
using koord::strategy::Intents;
using Burst = koord::cpu_burst::CpuBurst;
using Settings = koord::slo::CpuBurst;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

double tokens_after(std::int64_t period, std::int64_t percent, double start, double usage) {
  Limiter limiter(period, percent, start, 0);
  limiter.take(usage, 10 * kSecond);
  return limiter.tokens();
}

// A node of 16 CPUs that uses 10 cores. An LSR pod has 8 of the CPUs.
Pool pool_when_lsr_uses(double cores) { return {16 - 8, 10 - cores, 50}; }

Settings settings(BurstPolicy policy = BurstPolicy::automatic) { return {policy, 1000, 300, -1, 50}; }

// Returns the next factor of a container, computed in the order of the decision.
double next(double now, const Settings& settings, std::optional<double> throttled, PoolState pool, bool may = true) {
  return next_scale(allowed(wanted(settings, may, throttled), pool), now, settings);
}

Container container(std::string id, std::int64_t limit_milli = 2000, double throttled = 0.5, std::uint64_t at_ns = 0) {
  Container container;
  container.id = container.name = std::move(id);
  container.cgroup_dir = "pod/" + container.id;
  container.is_running = true;
  container.limit_milli = limit_milli;
  container.throttled = Throttled{throttled, at_ns};
  container.usage_cores = static_cast<double>(limit_milli) / 1000;
  return container;
}

Pod pod(std::vector<Container> containers, Settings of = settings(BurstPolicy::cfs_quota_burst_only)) {
  Pod pod;
  pod.name = "shop/cart";
  pod.cgroup_dir = "pod";
  pod.settings = of;
  pod.containers = std::move(containers);
  for (const Container& one : pod.containers) pod.limit_milli += one.limit_milli;
  return pod;
}

Situation at(std::uint64_t seconds, std::vector<Pod> pods, Pool pool = {100, 10, 50}) {
  return {seconds * kSecond, pool, std::move(pods)};
}

std::string value(const Intents& intents, std::string_view knob, std::string_view dir) {
  for (const Intent& intent : intents)
    if (intent.knob == knob && intent.cgroup_dir == dir) return intent.value;
  return "";
}

}  // namespace

TEST_CASE("limiter: usage above the limit drains the bucket, usage below 60 % fills it, both within its capacity") {
  CHECK(tokens_after(100, 150, 1.0, 150) == doctest::Approx(4500));
  CHECK(tokens_after(100, 150, 0.01, 200) == doctest::Approx(-950));
  CHECK(tokens_after(10, 150, 0.01, 200) == doctest::Approx(-500));
  CHECK(tokens_after(100, 150, 0.1, 40) == doctest::Approx(1100));
  CHECK(tokens_after(100, 150, 0.9, 40) == doctest::Approx(5000));
  CHECK(tokens_after(100, 150, 0.1, 60) == doctest::Approx(500));
  CHECK(tokens_after(100, 150, 0.1, 99.9) == doctest::Approx(500));
}

TEST_CASE(
    "limiter: a bucket that is not empty permits a burst, fractions of seconds count, and without a measurement the bucket stays") {
  Limiter limiter(100, 150, 0.01, 0);
  CHECK(limiter.allows());
  limiter.take(std::nullopt, 10 * kSecond);
  CHECK(limiter.tokens() == doctest::Approx(50));
  limiter.take(150, 10 * kSecond + kSecond / 2);
  CHECK(limiter.tokens() == doctest::Approx(25));
  limiter.take(150, 11 * kSecond);
  CHECK_FALSE(limiter.allows());
}

TEST_CASE("limiter: a period of 0 or a percent of 100 or less gives an empty bucket") {
  CHECK_FALSE(Limiter(0, 300, 0.4, 0).allows());
  CHECK_FALSE(Limiter(100, 100, 0.4, 0).allows());
  CHECK_FALSE(Limiter(100, 90, 0.4, 0).allows());
}

TEST_CASE(
    "limiter: a container's bucket begins at a level that depends on its id, always the same and less than half full") {
  CHECK(start_of("containerd://a") == start_of("containerd://a"));
  CHECK(start_of("containerd://a") != start_of("containerd://b"));
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const double start = start_of("containerd://" + std::to_string(i));
    CHECK((start >= 0 && start < 0.5));
    sum += start;
  }
  CHECK(sum / 1000 == doctest::Approx(0.25).epsilon(0.1));
}

TEST_CASE("the shared pool is overloaded from its threshold on, cooling from 90 % of it, idle below") {
  CHECK(state_of(pool_when_lsr_uses(7)) == PoolState::idle);
  CHECK(state_of(pool_when_lsr_uses(5)) == PoolState::overload);
  CHECK(state_of(pool_when_lsr_uses(6.25)) == PoolState::cooling);
  CHECK(state_of({0, 0, 50}) == PoolState::overload);
  CHECK(pool_when_lsr_uses(7).room() == doctest::Approx(0.6));
  CHECK(pool_when_lsr_uses(5).room() == 0);
}

TEST_CASE("the part of a change that an average does not show yet decreases to 0 over its window") {
  UnaveragedChanges changes(4 * kSecond);
  changes.changed(2, 10 * kSecond);
  CHECK(changes.cores(10 * kSecond) == doctest::Approx(2));
  CHECK(changes.cores(11 * kSecond) == doctest::Approx(1.5));
  changes.changed(-1, 11 * kSecond);
  CHECK(changes.cores(13 * kSecond) == doctest::Approx(0.5 - 0.5));
  CHECK(changes.cores(15 * kSecond) == 0);
}

TEST_CASE(
    "quota: up by 20 % while throttled and the pool is idle, down by 20 % while overloaded, between the limit and its percent") {
  const Settings quota = settings(BurstPolicy::cfs_quota_burst_only);
  CHECK(next(2, settings(BurstPolicy::cpu_burst_only), 0.5, PoolState::idle) == 1);
  CHECK(next(2, quota, 0.5, PoolState::cooling) == 2);
  CHECK(next(2, quota, 0.5, PoolState::overload) == 1.6);
  CHECK(next(1.01, quota, 0.5, PoolState::overload) == 1);
  CHECK(next(2, quota, 0.5, PoolState::idle) == 2.4);
  CHECK(next(2.95, quota, 0.5, PoolState::idle) == 3);
  CHECK(next(2, quota, 0.0, PoolState::idle) == 2);
  CHECK(next(2, quota, std::nullopt, PoolState::idle) == 2);
  CHECK(next(2, quota, 0.5, PoolState::unknown) == 2);
}

TEST_CASE("quota: a limiter that does not permit a burst lowers it, and a percent below 100 means the limit") {
  Settings quota = settings(BurstPolicy::cfs_quota_burst_only);
  CHECK(next(2, quota, 0.5, PoolState::idle, Limiter(0, 300, 0.4, 0).allows()) == 1.6);
  quota.cfs_quota_burst_percent = 90;
  CHECK(next(2, quota, 0.5, PoolState::idle, Limiter(10, 90, 0.4, 0).allows()) == 1);
}

TEST_CASE("quota: in every state of the node, a quota that is to be lowered is lowered") {
  for (PoolState state : {PoolState::unknown, PoolState::idle, PoolState::cooling, PoolState::overload}) {
    CHECK(allowed(Operation::reset, state) == Operation::reset);
    CHECK(allowed(Operation::scale_down, state) == Operation::scale_down);
  }
}

TEST_CASE("a factor has at most six digits, and a pod's is rounded up") {
  CHECK(text_of_scale(1.2) == "1.2");
  CHECK(text_of_scale(3) == "3");
  CHECK(text_of_scale(1.0000004) == "1");
  CHECK(text_of_scale(rounded_scale(1.2 * 1.2 * 1.2)) == "1.728");
  CHECK(text_of_scale(rounded_up_scale(4.0 / 3)) == "1.333334");
  CHECK(text_of_scale(rounded_up_scale(1.2)) == "1.2");
  CHECK(quota_of(5, 100'000) == 1000);  // the kernel's minimum
  CHECK(quota_of(2500, 50'000) == 125'000);
}

TEST_CASE(
    "static burst: each container with a limit may save its percent of it, at most its quota, and the pod the sum") {
  Burst burst(5 * kSecond);
  Pod one = pod({container("a", 2000), container("b", 500)}, settings(BurstPolicy::cpu_burst_only));
  Intents intents = burst.plan(at(1, {one}));
  CHECK(value(intents, "cpu.max.burst", "pod/a") == "200000");
  CHECK(value(intents, "cpu.max.burst", "pod/b") == "50000");
  CHECK(value(intents, "cpu.max.burst", "pod") == "250000");
  CHECK(intents.size() == 3);
  one.settings.cpu_burst_percent = 50;
  intents = burst.plan(at(1, {one}));
  CHECK(value(intents, "cpu.max.burst", "pod/a") == "100000");
  burst.set_burst_above_quota(true);
  one.settings.cpu_burst_percent = 1000;
  CHECK(value(burst.plan(at(1, {one})), "cpu.max.burst", "pod/a") == "2000000");
}

TEST_CASE("static burst: a limit beyond all CPUs does not overflow") {
  Burst burst(5 * kSecond);
  const Pod one =
      pod({container("a", std::numeric_limits<std::int64_t>::max() / 2)}, settings(BurstPolicy::cpu_burst_only));
  CHECK(value(burst.plan(at(1, {one})), "cpu.max.burst", "pod/a") == std::to_string(kMostQuotaUs));
  burst.set_burst_above_quota(true);
  CHECK(value(burst.plan(at(1, {one})), "cpu.max.burst", "pod/a") == std::to_string(kMostQuotaUs));
}

TEST_CASE("static burst: a container without a limit has none, and its pod has none either") {
  Burst burst(5 * kSecond);
  const Container free = container("free", 0);
  const Intents intents = burst.plan(at(1, {pod({container("a"), free}, settings(BurstPolicy::cpu_burst_only))}));
  REQUIRE(intents.size() == 1);
  CHECK(intents[0].cgroup_dir == "pod/a");
}

TEST_CASE("policy none proposes nothing, so values of other agents are not reverted") {
  Burst burst(5 * kSecond);
  CHECK(burst.plan(at(1, {pod({container("a")}, settings(BurstPolicy::none))})).empty());
}

TEST_CASE("a throttled container gets a fifth more than its limit, and its pod as much more as its containers") {
  Burst burst(5 * kSecond);
  const Intents intents = burst.plan(at(1, {pod({container("a"), container("b", 1000, 0)})}));
  REQUIRE(intents.size() == 2);
  CHECK(intents[0].value == "1.2");
  CHECK(intents[0].role == KOORD_ROLE_SCALE);
  CHECK(
      intents[0].reason ==
      "container a is held back by its quota in 50 % of its periods, and the shared CPUs are idle, 10.00 of 100.00 cores in use, "
      "threshold 50.00 %: quota raised, 2.40 cores for a limit of 2.00");
  CHECK(value(intents, "cpu.max", "pod") == "1.133334");  // 3.4 cores of 3, rounded up
  CHECK(intents[1].role == KOORD_ROLE_SCALE);
}

TEST_CASE("every session of the strategy begins at or below the limit, and a factor never exceeds the ceiling") {
  for (int session = 0; session < 20; ++session) {
    Burst burst(5 * kSecond);
    double highest = 1;
    CHECK(value(burst.plan(at(1, {pod({container("a")})})), "cpu.max", "pod/a") == "1.2");
    for (std::uint64_t second = 2; second < 20; ++second) {
      burst.applied("pod/a", true);
      const double next = std::stod(
          value(burst.plan(at(second, {pod({container("a", 2000, 0.5, second * kSecond - 1)})})), "cpu.max", "pod/a"));
      CHECK(next >= highest);
      highest = next;
    }
    CHECK(highest == 3);
  }
}

TEST_CASE(
    "a raised quota is kept when the container is not throttled any more, and lowered to the limit while the pool is overloaded") {
  Burst burst(5 * kSecond);
  Container a = container("a");
  burst.plan(at(1, {pod({a})}));
  burst.applied("pod/a", true);
  a.throttled = Throttled{0, 2 * kSecond};
  CHECK(value(burst.plan(at(2, {pod({a})})), "cpu.max", "pod/a") == "1.2");
  CHECK(value(burst.plan(at(20, {pod({a})}, {100, 60, 50})), "cpu.max", "pod/a") == "");  // 0.96 is less than the limit
}

TEST_CASE("one measurement changes a quota once, even if evaluations are more frequent") {
  Burst burst(5 * kSecond);
  Container a = container("a", 2000, 0.5, kSecond / 2);
  burst.plan(at(1, {pod({a})}));
  burst.applied("pod/a", true);
  CHECK(value(burst.plan(at(2, {pod({a})})), "cpu.max", "pod/a") == "1.2");
  a.throttled->at_ns = 5 * kSecond / 2;
  CHECK(value(burst.plan(at(3, {pod({a})})), "cpu.max", "pod/a") == "1.44");
}

TEST_CASE("a changed length of the window changes no quota") {
  Burst burst(5 * kSecond);
  Container a = container("a", 2000, 0.5, kSecond / 2);
  burst.plan(at(1, {pod({a})}));
  burst.applied("pod/a", true);
  burst.set_window(30 * kSecond);
  CHECK(value(burst.plan(at(2, {pod({a})})), "cpu.max", "pod/a") == "1.2");
}

TEST_CASE("a container that waits, has no limit or no cgroup gets no proposal") {
  Burst burst(5 * kSecond);
  Pod one = pod({container("a"), container("b"), container("c", 0)});
  one.containers[0].cgroup_dir.clear();
  one.containers[1].is_running = false;
  CHECK(burst.plan(at(1, {one})).empty());
}

TEST_CASE("a container without an id is identified by its cgroup") {
  Burst burst(5 * kSecond);
  Container a = container("a"), b = container("b");
  a.id.clear();
  b.id.clear();
  b.throttled->ratio = 0;
  CHECK(value(burst.plan(at(1, {pod({a, b})})), "cpu.max", "pod/a") == "1.2");
  burst.applied("pod/a", true);
  a.throttled->at_ns = kSecond + 1;
  const Intents intents = burst.plan(at(2, {pod({a, b})}));
  CHECK(value(intents, "cpu.max", "pod/a") == "1.44");
  CHECK(value(intents, "cpu.max", "pod/b") == "");
}

TEST_CASE("a pod without a limit gets no quota") {
  Burst burst(5 * kSecond);
  Pod one = pod({container("a")});
  one.limit_milli = 0;
  const Intents intents = burst.plan(at(1, {one}));
  REQUIRE(intents.size() == 1);
  CHECK(intents[0].cgroup_dir == "pod/a");
}

TEST_CASE("a limit that changes ends the raise") {
  Burst burst(5 * kSecond);
  Container a = container("a");
  burst.plan(at(1, {pod({a})}));
  burst.applied("pod/a", true);
  a = container("a", 3000, 0, 2 * kSecond);
  CHECK(burst.plan(at(2, {pod({a})})).empty());
}

TEST_CASE("containers that are raised together share the room of the pool below its cooling threshold") {
  Burst burst(5 * kSecond);
  const Pod one = pod({container("a"), container("b")});
  CHECK(value(burst.plan(at(1, {one}, {10, 4.3, 50})), "cpu.max", "pod/a") == "1.05");  // 0.2 cores for two
  CHECK(value(Burst(5 * kSecond).plan(at(1, {one}, {10, 3.6, 50})), "cpu.max", "pod/a") == "1.2");
}

TEST_CASE("a raise counts as usage before the average shows it") {
  Burst burst(5 * kSecond);
  Container a = container("a");
  burst.plan(at(1, {pod({a})}, {10, 4.1, 50}));
  burst.applied("pod/a", true);
  a.throttled->at_ns = 3 * kSecond / 2;
  // 4.1 + 4/5 of 0.4 leave 0.08
  CHECK(value(burst.plan(at(2, {pod({a})}, {10, 4.1, 50})), "cpu.max", "pod/a") == "1.24");
}

TEST_CASE("in shadow mode no factor counts as used, and an intent is one step from the limit") {
  Burst burst(5 * kSecond);
  Container a = container("a");
  for (std::uint64_t second = 1; second < 10; ++second) {
    a.throttled->at_ns = second * kSecond - 1;
    CHECK(value(burst.plan(at(second, {pod({a})}, {10, 4.1, 50})), "cpu.max", "pod/a") == "1.2");
    burst.applied("pod/a", false);
  }
}

TEST_CASE("a raise that another plugin's value replaces starts again from the limit") {
  Burst burst(5 * kSecond);
  Container a = container("a");
  for (std::uint64_t second = 1; second < 5; ++second) {
    a.throttled->at_ns = second * kSecond - 1;
    burst.plan(at(second, {pod({a})}));
    burst.applied("pod/a", second < 4);
  }
  a.throttled->at_ns = 5 * kSecond - 1;
  CHECK(value(burst.plan(at(5, {pod({a})})), "cpu.max", "pod/a") == "1.2");
}

TEST_CASE("an unknown pool raises nothing") {
  Burst burst(5 * kSecond);
  CHECK(burst.plan({kSecond, std::nullopt, {pod({container("a")})}}).empty());
}

TEST_CASE("a throttled container that is not raised is reported with the reason, once in five minutes") {
  Burst burst(5 * kSecond);
  Container a = container("a");
  a.handle = 7;
  const auto noted = [&](std::uint64_t second, std::optional<Pool> pool) {
    a.throttled->at_ns = second * kSecond - 1;
    burst.plan({second * kSecond, pool, {pod({a})}});
    return burst.held_back();
  };
  const Pool busy{10, 6, 50};
  CHECK(noted(1, std::nullopt).empty());
  const std::vector<HeldBack> first = noted(2, busy);
  REQUIRE(first.size() == 1);
  CHECK(first[0].handle == 7);
  CHECK(first[0].why ==
        "container a is held back by its quota in 50 % of its periods and keeps it: the shared CPUs are overloaded, "
        "6.00 of 10.00 cores in use, threshold 50.00 %");
  CHECK(noted(3, busy).empty());
  CHECK(noted(301, busy).empty());
  CHECK(noted(302, busy).size() == 1);
  CHECK(noted(700, Pool{10, 1, 50}).empty());  // raised
}

TEST_CASE("a container that has drained its bucket returns to its limit") {
  Burst burst(5 * kSecond);
  Settings limited = settings(BurstPolicy::cfs_quota_burst_only);
  limited.cfs_quota_burst_period_seconds = 1;  // at most 200 percent-seconds
  Container a = container("a");
  a.usage_cores = 4;
  std::uint64_t second = 0;
  std::string scale;
  const auto round = [&] {
    a.throttled->at_ns = ++second * kSecond - 1;
    scale = value(burst.plan(at(second, {pod({a}, limited)})), "cpu.max", "pod/a");
    burst.applied("pod/a", true);
  };
  for (int i = 0; i < 20; ++i) round();
  CHECK(scale == "");
  a.usage_cores = 0.5;  // fills the bucket
  for (int i = 0; i < 20; ++i) round();
  CHECK(scale != "");
}
