// SPDX-License-Identifier: Apache-2.0
// Runs Reclaimer on a model of a pod's memory, over hours of simulated time.
#include <doctest/doctest.h>

#include <cmath>

#include "plugins/qos-memory-reclaim/reclaimer.hpp"
#include "test/support/plant.hpp"
#include "test/support/recording.hpp"

using namespace koord::memory_reclaim;
using namespace koord::test;

namespace {

constexpr double kMi = 1024.0 * 1024;
constexpr double kHour = 3600;

// One pod on a node with enough memory, evaluated each ten seconds like in the plugin.
struct Loop {
  explicit Loop(Workload workload, double filled_seconds) {
    plant.add("pod");
    plant.run("pod", std::move(workload));
    plant.advance(filled_seconds);
  }

  void run(double seconds) {
    for (const double end = plant.now() + seconds; plant.now() < end;) {
      const Measured& now = plant.of("pod");
      const Reading reading{static_cast<std::int64_t>(now.hot_bytes + now.cold_bytes),
                            static_cast<std::int64_t>(now.memory_some.total_us), static_cast<std::int64_t>(refaulted),
                            std::nullopt};
      const std::int64_t want = reclaimer.want(reading, std::chrono::nanoseconds(std::llround(plant.now() * 1e9)), {});
      reclaimer.asked(want);
      if (want > 0) take(want);
      recording.note("page cache", plant.now(), static_cast<double>(*reading.page_cache) / kMi);
      recording.note("taken at once", plant.now(), static_cast<double>(want) / kMi);
      recording.note("stalled", plant.now(), reclaimer.stalled_percent());
      plant.advance(10);
      refaulted += plant.of("pod").reread * 10;
    }
  }

  void take(std::int64_t bytes) {
    const double before = plant.of("pod").reclaimed;
    plant.set("pod", "memory.reclaim", std::to_string(bytes));
    reclaimer.given(static_cast<std::int64_t>(plant.of("pod").reclaimed - before));
  }

  // Returns the percentage of windows in which tasks stalled longer than permitted.
  double choked_percent() const {
    double choked = 0;
    for (const Sample& sample : recording.of("stalled")) choked += sample.value > Settings().pressure_percent ? 1 : 0;
    return 100 * choked / static_cast<double>(recording.of("stalled").size());
  }

  Plant plant{{.memory_bytes = 65536 * kMi}};
  Reclaimer reclaimer;
  Recording recording;
  double refaulted = 0;
};

}  // namespace

TEST_CASE("closed loop: unused page cache is reclaimed, and used page cache stays") {
  Loop loop({.anonymous = constant(500 * kMi), .hot_file = constant(2000 * kMi), .streamed = 1 * kMi}, 6000);
  REQUIRE(loop.plant.of("pod").cold_bytes > 5000 * kMi);
  loop.run(6 * kHour);
  CHECK(loop.plant.of("pod").cold_bytes < 3000 * kMi);
  CHECK(loop.plant.of("pod").hot_bytes > 1900 * kMi);
  CHECK(loop.choked_percent() < 1);
  plot(loop.recording, "qos-memory-reclaim-cold-page-cache",
       "page cache that is not read again is taken, until it costs",
       {{"MiB", {"page cache"}}, {"MiB", {"taken at once"}}, {"% of the time", {"stalled"}}});
  CHECK(summary(loop.recording, {"page cache", "taken at once", "stalled"}, 8) ==
        "page cache: 5186 2080 2066 2066 2064 2067 2065 2065; 2010 to 8012\n"
        "taken at once: 30.78 11.75 10.2 10.76 10.31 10.41 10.76 10.15; 0 to 32\n"
        "stalled: 0 0.01 0.01 0.01 0.01 0.01 0.01 0.01; 0 to 0.19\n");
}

TEST_CASE("closed loop: a pod that uses all its page cache is tried less and less often, and hardly ever stalls") {
  Loop loop({.hot_file = constant(6000 * kMi)}, 60);
  loop.run(8 * kHour);
  CHECK(loop.choked_percent() < 2);
  CHECK(mean(loop.recording.of("page cache")) > 5900);
  unsigned tries = 0;
  for (const Sample& sample : between(loop.recording.of("taken at once"), 4 * kHour, 9 * kHour))
    tries += sample.value > 0 ? 1 : 0;
  CHECK(tries <= 2 * 5);
}

TEST_CASE("closed loop: it stops while the pod lacks memory for other reasons, and continues afterwards") {
  Loop loop({.hot_file = constant(3000 * kMi), .streamed = 2 * kMi}, 3000);
  loop.run(600);
  loop.plant.set("pod", "memory.max", std::to_string(static_cast<std::int64_t>(2500 * kMi)));
  loop.run(60);
  const double from = loop.plant.now();
  loop.run(1200);
  CHECK(highest(between(loop.recording.of("taken at once"), from, from + 1200)) == 0);
  loop.plant.set("pod", "memory.max", "max");
  loop.run(2 * kHour);
  CHECK(highest(between(loop.recording.of("taken at once"), from + 1200, from + 1200 + 2 * kHour)) > 0);
}
