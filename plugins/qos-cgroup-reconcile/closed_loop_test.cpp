// SPDX-License-Identifier: Apache-2.0
// Runs HighGuard on a model of a container's memory, over hours of simulated time.
#include <doctest/doctest.h>

#include <cmath>

#include "plugins/qos-cgroup-reconcile/high_guard.hpp"
#include "test/support/plant.hpp"
#include "test/support/recording.hpp"

using namespace koord::cgroup_reconcile;
using namespace koord::test;

namespace {

constexpr double kMi = 1024.0 * 1024;
constexpr std::int64_t kTarget = 800LL << 20;
constexpr double kHour = 3600;

// One container with a target of 800 MiB for memory.high, evaluated once a second like in the plugin.
struct Loop {
  explicit Loop(Workload workload) {
    plant.add("container");
    plant.run("container", std::move(workload));
    plant.advance(60);
  }

  void run(double seconds) {
    for (const double end = plant.now() + seconds; plant.now() < end;) {
      const Measured& now = plant.of("container");
      const HighReading reading{static_cast<std::int64_t>(now.memory_bytes),
                                static_cast<std::int64_t>(now.memory_some.total_us)};
      const auto high =
          guard.next({.target = kTarget}, reading, std::chrono::nanoseconds(std::llround(plant.now() * 1e9)), {});
      REQUIRE(high);
      const bool limited = *high != INT64_MAX;
      plant.set("container", "memory.high", limited ? std::to_string(*high) : "max");
      recording.note("memory.high", plant.now(), limited ? static_cast<double>(*high) / kMi : 2000);
      plant.advance();
      recording.note("in use", plant.now(), plant.of("container").memory_bytes / kMi);
      recording.note("stalled", plant.now(), plant.of("container").memory_some.avg10);
    }
  }

  std::string summary(const std::string& name, const std::string& title) const {
    plot(recording, "qos-cgroup-reconcile-" + name, title,
         {{"MiB", {"memory.high", "in use"}}, {"% of the time", {"stalled"}}});
    return koord::test::summary(recording, {"memory.high", "in use", "stalled"}, 8);
  }

  // Returns the percentage of the time in which tasks stalled longer than permitted.
  double choked_percent() const {
    double choked = 0;
    for (const Sample& sample : recording.of("stalled"))
      choked += sample.value > GuardSettings().pressure_percent ? 1 : 0;
    return 100 * choked / static_cast<double>(recording.of("stalled").size());
  }

  Plant plant{{.memory_bytes = 8192 * kMi}};
  HighGuard guard;
  Recording recording;
};

}  // namespace

TEST_CASE("closed loop: unused page cache shrinks to memory.high's target, without stalls and without a reversal") {
  Loop loop({.anonymous = constant(300 * kMi), .hot_file = constant(200 * kMi), .streamed = 40 * kMi});
  loop.run(kHour);
  const Samples& high = loop.recording.of("memory.high");
  CHECK(settling_seconds(high, 800, 0) < 600);
  CHECK(turns(high, 1) == 0);
  CHECK(highest(loop.recording.of("stalled")) < 10);
  CHECK(loop.summary("unused-page-cache", "unused page cache: memory.high descends to its target") ==
        "memory.high: 1240 800 800 800 800 800 800 800; 800 to 2755\n"
        "in use: 1240 800 800 800 800 800 800 800; 800 to 2755\n"
        "stalled: 0 0 0 0 0 0 0 0; 0 to 0\n");
}

TEST_CASE(
    "closed loop: a working set larger than the target is not throttled for long, and memory.high does not oscillate") {
  Loop loop({.anonymous = constant(300 * kMi), .hot_file = constant(900 * kMi)});
  loop.run(8 * kHour);
  CHECK(loop.choked_percent() < 2);
  CHECK(turns(between(loop.recording.of("memory.high"), 0, 2 * kHour), 20) <= 14);
  CHECK(turns(between(loop.recording.of("memory.high"), 4 * kHour, 8 * kHour), 20) <= 2 * 4);  // one attempt an hour
  CHECK(loop.summary("large-working-set",
                     "a working set above the target: memory.high is raised, and tried again more and more rarely") ==
        "memory.high: 1252 1254 1254 1254 1254 1254 1254 1254; 1140 to 1254\n"
        "in use: 1199 1200 1200 1200 1200 1200 1200 1200; 1140 to 1200\n"
        "stalled: 1.67 0.28 0.28 0.28 0.28 0.28 0.28 0.28; 0 to 63.08\n");
}

TEST_CASE("closed loop: if a container holds more than the target and cannot release it, memory.high is reverted") {
  Loop loop({.anonymous = constant(1000 * kMi)});
  loop.run(2 * kHour);
  CHECK(loop.choked_percent() < 5);
  CHECK(turns(loop.recording.of("memory.high"), 20) <= 14);
}

TEST_CASE("closed loop: a burst is throttled for less than a minute and has no effect when it is over") {
  Loop loop({.anonymous = step(300 * kMi, 900 * kMi, 1200, 1800), .hot_file = constant(200 * kMi)});
  loop.run(3 * kHour);
  CHECK(loop.choked_percent() < 2);
  CHECK(loop.recording.of("memory.high").back().value == 800);
}
