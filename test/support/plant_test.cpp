// SPDX-License-Identifier: Apache-2.0
#include "test/support/plant.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "test/support/recording.hpp"

using namespace koord::test;
using doctest::Approx;

namespace {

constexpr double kGibibyte = 1024.0 * 1024 * 1024;
constexpr double kMebibyte = 1024.0 * 1024;

// A node with four CPUs: "ls" demands three, "be" demands all.
struct Neighbours {
  Neighbours() {
    plant.add("ls");
    plant.add("be");
    plant.run("ls", {.cpu = constant(3)});
    plant.run("be", {.cpu = constant(8)});
  }
  Plant plant{{.cpus = 4}};
};

}  // namespace

TEST_CASE("a group alone gets what it wants, up to the CPUs and its threads") {
  Plant plant({.cpus = 4});
  plant.add("a");
  plant.run("a", {.cpu = constant(2.5)});
  plant.advance();
  CHECK(plant.of("a").cpu_cores == Approx(2.5));
  plant.run("a", {.cpu = constant(9)});
  plant.advance();
  CHECK(plant.of("a").cpu_cores == Approx(4));
  plant.run("a", {.cpu = constant(9), .threads = 1});
  plant.advance();
  CHECK(plant.of("a").cpu_cores == Approx(1));
}

TEST_CASE("groups of equal weight share the CPUs equally; CPU time that one leaves goes to the others") {
  Neighbours node;
  node.plant.advance();
  CHECK(node.plant.of("ls").cpu_cores == Approx(2));
  CHECK(node.plant.of("be").cpu_cores == Approx(2));
  node.plant.run("ls", {.cpu = constant(0.5)});
  node.plant.advance();
  CHECK(node.plant.of("be").cpu_cores == Approx(3.5));
  CHECK(node.plant.of("").cpu_cores == Approx(4));
}

TEST_CASE("weights divide contended CPUs on each level separately") {
  Neighbours node;
  node.plant.set("be", "cpu.weight", "25");
  node.plant.run("ls", {.cpu = constant(4)});
  node.plant.advance();
  CHECK(node.plant.of("ls").cpu_cores == Approx(3.2));
  node.plant.set("be", "cpu.shares", "2");
  node.plant.advance();
  CHECK(node.plant.of("be").cpu_cores == Approx(4.0 * 2 / 1026));
  CHECK(node.plant.get("be", "cpu.shares") == "2");

  Plant nested({.cpus = 1});
  nested.add("a/x");
  nested.add("a/y");
  nested.add("b");
  for (const char* dir : {"a/x", "a/y", "b"}) nested.run(dir, {.cpu = constant(1)});
  nested.advance();
  CHECK(nested.of("b").cpu_cores == Approx(0.5));
  CHECK(nested.of("a/x").cpu_cores == Approx(0.25));
}

TEST_CASE("an idle group gets almost nothing beside other groups, and all CPU time that they leave") {
  Neighbours node;
  node.plant.set("be", "cpu.idle", "1");
  node.plant.advance();
  CHECK(node.plant.of("ls").cpu_cores > 2.98);
  CHECK(node.plant.of("be").cpu_cores == Approx(4 - node.plant.of("ls").cpu_cores));
}

TEST_CASE("a quota limits a group with its descendants, and its throttled periods are counted") {
  Neighbours node;
  node.plant.set("be", "cpu.max", "50000 100000");
  node.plant.advance(10);
  CHECK(node.plant.of("be").cpu_cores == Approx(0.5));
  CHECK(node.plant.of("ls").cpu_cores == Approx(3));
  CHECK(node.plant.of("be").throttled_ratio == Approx(1));
  CHECK(node.plant.of("be").nr_throttled == 100);
  node.plant.set("be", "cpu.max", "max 100000");
  node.plant.advance();
  CHECK(node.plant.of("be").throttled_ratio == 0);
}

TEST_CASE("a burst uses quota that earlier periods left unused") {
  Plant plant({.cpus = 4});
  plant.add("a");
  plant.run("a", {.cpu = step(0, 2, 1, 1.1)});
  plant.set("a", "cpu.max", "100000 100000");
  plant.advance(2);
  CHECK(plant.of("a").nr_throttled == 1);
  plant.run("a", {.cpu = step(0, 2, 3, 3.1)});
  plant.set("a", "cpu.max.burst", "100000");
  plant.advance(2);
  CHECK(plant.of("a").nr_throttled == 1);
  CHECK(plant.of("a").cpu_seconds == Approx(0.1 + 0.2));
}

TEST_CASE("a queue runs its delayed work later; a workload without a queue loses it") {
  Plant plant({.cpus = 1});
  plant.add("requests");
  plant.run("requests", {.cpu = step(0.5, 3, 1, 2), .queues = true});
  plant.advance(2);
  CHECK(plant.of("requests").backlog == Approx(2));
  CHECK(plant.of("requests").cpu_some.now > 50);
  plant.advance(5);
  CHECK(plant.of("requests").backlog == Approx(0));
  CHECK(plant.of("requests").cpu_seconds == Approx(0.5 + 3 + 2.5));
}

TEST_CASE("a cpuset confines a group and leaves the other CPUs to its neighbours") {
  Neighbours node;
  node.plant.set("be", "cpuset.cpus", "3");
  node.plant.advance();
  CHECK(node.plant.of("be").cpu_cores == Approx(1));
  CHECK(node.plant.of("ls").cpu_cores == Approx(3));
  CHECK(node.plant.get("be", "cpuset.cpus") == "3");
}

TEST_CASE("waits for a CPU count as pressure of the group and of its ancestors") {
  Neighbours node;
  node.plant.advance(60);
  CHECK(node.plant.of("ls").cpu_some.avg10 == Approx(100.0 / 3).epsilon(0.05));
  CHECK(node.plant.of("").cpu_some.avg10 == Approx(75).epsilon(0.05));
}

TEST_CASE("streamed pages stay as cold page cache until the node needs them, and reclaiming them is free") {
  Plant plant({.cpus = 1, .memory_bytes = kGibibyte});
  plant.add("reader");
  plant.run("reader", {.anonymous = constant(100 * kMebibyte), .streamed = 10 * kMebibyte});
  plant.advance(30);
  CHECK(plant.of("reader").cold_bytes == Approx(300 * kMebibyte));
  plant.advance(300);
  CHECK(plant.free_bytes() > 0.012 * kGibibyte);
  CHECK(plant.of("reader").anonymous_bytes == Approx(100 * kMebibyte));
  CHECK(plant.of("").memory_some.total_us == 0);
}

TEST_CASE("hot pages that are reclaimed are read again, which is memory pressure") {
  Plant plant({.cpus = 1, .memory_bytes = kGibibyte});
  plant.add("a");
  plant.run("a", {.hot_file = constant(500 * kMebibyte)});
  plant.advance(10);
  CHECK(plant.of("a").hot_bytes == Approx(500 * kMebibyte));
  CHECK(plant.of("a").memory_some.total_us == 0);
  plant.set("a", "memory.reclaim", "104857600");
  CHECK(plant.of("a").reclaimed == Approx(100 * kMebibyte));
  plant.advance();
  CHECK(plant.of("a").reread == Approx(100 * kMebibyte));
  CHECK(plant.of("a").memory_some.total_us == Approx(200'000));  // 100 MiB at 500 MiB/s
}

TEST_CASE("memory.min protects memory from reclaim; memory.low does so while other memory can be reclaimed") {
  Plant plant({.cpus = 1, .memory_bytes = kGibibyte});
  for (const char* dir : {"kept", "other"}) plant.add(dir);
  plant.run("kept", {.hot_file = constant(300 * kMebibyte)});
  plant.run("other", {.anonymous = step(0, 850 * kMebibyte, 20)});
  plant.set("kept", "memory.low", "209715200");
  plant.set("kept", "memory.min", "104857600");
  plant.advance(60);
  CHECK(plant.of("kept").memory_bytes >= 100 * kMebibyte);
  CHECK(plant.of("kept").memory_bytes < 200 * kMebibyte);
  plant.run("other", {.anonymous = constant(650 * kMebibyte)});
  plant.advance(10);
  CHECK(plant.of("kept").memory_bytes > 200 * kMebibyte);
}

TEST_CASE(
    "above memory.high a group is reclaimed, and stalls when it has nothing to give; above memory.max it is killed") {
  Plant plant({.cpus = 1, .memory_bytes = kGibibyte});
  plant.add("a");
  plant.run("a", {.anonymous = step(10 * kMebibyte, 200 * kMebibyte, 10), .streamed = 10 * kMebibyte});
  plant.set("a", "memory.high", "104857600");
  plant.advance(10);
  CHECK(plant.of("a").memory_bytes <= 100 * kMebibyte);
  CHECK(plant.of("a").memory_full.now == 0);
  plant.advance(1);
  CHECK(plant.of("a").memory_full.now == Approx(100));
  plant.set("a", "memory.max", "157286400");
  plant.advance(1);
  CHECK(plant.of("a").oom_kills == 1);
  CHECK(plant.of("a").anonymous_bytes == 0);
}

TEST_CASE("knobs are read back as set; a wrong value, knob or group is refused with a reason") {
  Plant plant({.cpus = 2});
  plant.add("a/b");
  plant.set("a/b", "cpu.max", "20000 50000");
  CHECK(plant.get("a/b", "cpu.max") == "20000 50000");
  CHECK(plant.get("a", "cpu.max") == "max 100000");
  CHECK(plant.get("a", "memory.high") == "max");
  CHECK_THROWS_AS(plant.set("a", "cpu.max", "often"), std::invalid_argument);
  CHECK_THROWS_AS(plant.set("a", "cpu.idle", "2"), std::invalid_argument);
  CHECK_THROWS_AS(plant.set("a", "memory.min", ""), std::invalid_argument);
  CHECK_THROWS_AS(plant.set("a", "memory.intent", "1"), std::out_of_range);
  CHECK_THROWS_AS(plant.of("nowhere"), std::out_of_range);
  CHECK_THROWS_AS(plant.run("a", {}), std::invalid_argument);
}

TEST_CASE("a group that has ended returns its memory") {
  Neighbours node;
  node.plant.advance();
  node.plant.remove("ls");
  node.plant.advance();
  CHECK(node.plant.of("be").cpu_cores == Approx(4));
}

TEST_CASE("curves: a step, a wave, and noise that is the same in each run") {
  CHECK(step(1, 2, 10, 20)(9.9) == 1);
  CHECK(step(1, 2, 10, 20)(10) == 2);
  CHECK(step(1, 2, 10, 20)(20) == 1);
  CHECK(wave(1, 3, 100)(0) == Approx(1));
  CHECK(wave(1, 3, 100)(50) == Approx(3));
  CHECK(wave(1, 3, 100)(125) == Approx(2));
  const Curve noise = noisy(constant(5), 1, 7);
  for (double t : {0.0, 0.1, 77.3}) CHECK(noise(t) == Approx(5).epsilon(0.2));
  CHECK(noise(0.1) != noise(0.2));
  CHECK(noise(0.1) == noisy(constant(5), 1, 7)(0.1));
}

TEST_CASE("settling is the time after which a value stays near its target") {
  const Samples samples{{0, 9}, {1, 5}, {2, 8}, {3, 5.2}, {4, 4.9}, {5, 5}};
  CHECK(settling_seconds(samples, 5, 0.5) == 2);
  CHECK(settling_seconds(samples, 5, 10) == 0);
  CHECK(settling_seconds(samples, 1, 0.5) == 5);
}

TEST_CASE("turns() counts swings of a minimum size, and none of a value that settles") {
  CHECK(turns({{0, 1}, {1, 2}, {2, 3}, {3, 3}, {4, 2.9}}, 0.5) == 0);
  CHECK(turns({{0, 1}, {1, 3}, {2, 1}, {3, 3}, {4, 1}}, 0.5) == 3);
  CHECK(turns({{0, 1}, {1, 3}, {2, 1}, {3, 3}, {4, 1}}, 5) == 0);
  CHECK(changes({{0, 1}, {1, 1}, {2, 2}, {3, 1}}) == 2);
}

TEST_CASE("mean and extremes are those of the samples in the interval") {
  const Samples samples{{0, 10}, {1, 2}, {2, 4}, {3, 100}};
  CHECK(mean(between(samples, 1, 3)) == 3);
  CHECK(highest(between(samples, 1, 3)) == 4);
  CHECK(lowest(between(samples, 1, 3)) == 2);
}

TEST_CASE("a summary has the averages of equal parts of the time, and the lowest and the highest value") {
  Recording recording;
  for (int t = 0; t <= 40; ++t) recording.note("use", t, t < 10 ? 1 : 2.004);
  for (int t = 0; t <= 40; ++t) recording.note("bytes", t, t == 40 ? 1300.6 : 1000.4);
  CHECK(summary(recording, {"use", "bytes"}, 4) == "use: 1 2 2 2; 1 to 2\n"
                                                   "bytes: 1000 1000 1000 1028; 1000 to 1301\n");
}

TEST_CASE("a plot shows each series, and the same recording gives the same text") {
  Recording recording;
  for (int t = 0; t < 5000; ++t) recording.note("use", t, t % 2);
  const std::string plot = svg(recording, "on and off", {{"cores", {"use"}}});
  CHECK(plot.find("on and off") != std::string::npos);
  CHECK(plot.find(">use</text>") != std::string::npos);
  CHECK(plot.size() < 20'000);
  CHECK(plot == svg(recording, "on and off", {{"cores", {"use"}}}));
}
