// SPDX-License-Identifier: Apache-2.0
// Plant: a node as a model, for tests of control loops over simulated hours. Groups are cgroups: they have knobs, set
// and read as cgroup v2 spells them, and workloads that demand CPU and memory; advance() moves the time and measures
// what they got.
//
//   Plant plant({.cpus = 8});
//   plant.add("kubepods/besteffort");
//   plant.run("kubepods/besteffort", {.cpu = constant(6)});
//   plant.set("kubepods/besteffort", "cpu.max", "200000 100000");
//   plant.advance(10);
//   plant.of("kubepods/besteffort").cpu_cores;  // 2
//
// Time goes in periods of 100 ms, that of the CPU bandwidth controller. It is a model of fluids. The CPUs of a period
// are shared among the groups with demand as the completely fair scheduler does in the long run (by weight on each
// level, within quota, burst and cpuset). Memory is reclaimed in the kernel's order (from unprotected groups, cold
// before hot). Events within a period (wake-ups, preemption) are not modelled. Knobs act as on v2: an ancestor's limit
// bounds a group; no value is refused for another group's. Deterministic. Throws std::invalid_argument where the kernel
// would answer with EINVAL, std::out_of_range for an unknown group or knob. [one thread]
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace koord::test {

// Something over time: seconds since the beginning to a value.
using Curve = std::function<double(double)>;
Curve constant(double value);
// `low`, and from `from` until before `to` `high`.
Curve step(double low, double high, double from, double to = 1e18);
// Between `low` and `high`, with this period in seconds: a day in a data centre.
Curve wave(double low, double high, double period);
// Around `course`, by at most `by`: another value each 100 ms, the same in each run with the same seed.
Curve noisy(Curve course, double by, std::uint64_t seed = 1);

// Demand of the processes of a group.
struct Workload {
  Curve cpu = constant(0);        // cores
  double threads = 1e9;           // cores that they can use at once
  bool queues = false;            // delayed work has to run later (requests); else it is lost (a loop that is counted)
  Curve anonymous = constant(0);  // bytes, which cannot be reclaimed: there is no swap
  Curve hot_file = constant(0);   // bytes of page cache used all the time: reclaimed pages are read again
  double streamed = 0;            // bytes a second that are read once and stay in the page cache until reclaimed
};

// A share of time in which tasks stall, as in the kernel's PSI files. In percent.
struct Pressure {
  double now = 0;  // of the last period
  double avg10 = 0, avg60 = 0;
  double total_us = 0;
};

// A group with everything in it. Rates are averages of the last advance().
struct Measured {
  double cpu_cores = 0;
  double cpu_wanted = 0;       // cores that it would have used alone
  double cpu_seconds = 0;      // since the beginning
  double throttled_ratio = 0;  // periods in which a quota of its own held it back, of those in which it ran
  std::uint64_t nr_periods = 0, nr_throttled = 0;
  double backlog = 0;  // core-seconds that wait in queues
  Pressure cpu_some, memory_some, memory_full;
  double memory_bytes = 0;  // anonymous and page cache
  double anonymous_bytes = 0, hot_bytes = 0, cold_bytes = 0;
  double reread = 0;     // bytes a second of hot pages that had been reclaimed
  double reclaimed = 0;  // bytes, since the beginning
  std::uint64_t oom_kills = 0;
};

struct PlantTree;

class Plant {
 public:
  struct Machine {
    unsigned cpus = 8;
    double memory_bytes = 16.0 * 1024 * 1024 * 1024;
    double disk_bytes_per_second = 500.0 * 1024 * 1024;  // at which reclaimed pages come back
  };
  explicit Plant(const Machine& machine);
  ~Plant();
  Plant(const Plant&) = delete;
  Plant& operator=(const Plant&) = delete;

  // Makes a group, and those around it that are not there. "" is the root, which is there.
  void add(const std::string& dir);
  void remove(const std::string& dir);
  // Its processes from now on; a group without any runs nothing of its own.
  void run(const std::string& dir, Workload workload);

  // cpu.weight, cpu.shares, cpu.idle, cpu.max, cpu.max.burst, cpuset.cpus, memory.min, memory.low, memory.high,
  // memory.max. A one-shot: memory.reclaim.
  void set(const std::string& dir, std::string_view knob, std::string_view value);
  std::string get(const std::string& dir, std::string_view knob) const;

  void advance(double seconds = 1);
  double now() const;

  // "" measures the node.
  const Measured& of(const std::string& dir) const;
  double free_bytes() const;
  const Machine& machine() const { return machine_; }

 private:
  const Machine machine_;
  std::uint64_t periods_ = 0;
  std::unique_ptr<PlantTree> tree_;
};

}  // namespace koord::test
