// SPDX-License-Identifier: Apache-2.0
// Plant: a simulated node, for tests of control loops over simulated hours. Groups stand for cgroups. They have knobs,
// which are set and read in the syntax of cgroup v2, and workloads that demand CPU and memory. advance() moves the time
// and measures what the groups got.
//
//   Plant plant({.cpus = 8});
//   plant.add("kubepods/besteffort");
//   plant.run("kubepods/besteffort", {.cpu = constant(6)});
//   plant.set("kubepods/besteffort", "cpu.max", "200000 100000");
//   plant.advance(10);
//   plant.of("kubepods/besteffort").cpu_cores;  // 2
//
// Time advances in periods of 100 ms, the period of the CPU bandwidth controller. CPU and memory are modelled as
// continuous amounts. The CPU time of a period is divided among the groups with demand as the completely fair scheduler
// does in the long run (by weight on each level, within quota, burst and cpuset). Memory is reclaimed in the kernel's
// order (from unprotected groups, cold before hot). Events within a period (wake-ups, preemption) are not modelled.
// Knobs act as on v2: an ancestor's limit also limits a group; no value is refused because of another group. Results
// are deterministic. Throws std::invalid_argument where the kernel would return EINVAL, std::out_of_range for an
// unknown group or knob. [one thread]
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace koord::test {

// A value over time: maps seconds since the start to a value.
using Curve = std::function<double(double)>;
Curve constant(double value);
// Returns `high` from `from` on and before `to`, otherwise `low`.
Curve step(double low, double high, double from, double to = 1e18);
// Oscillates between `low` and `high` with this period in seconds, like daily load in a data centre.
Curve wave(double low, double high, double period);
// Adds noise of at most `by` to `course`: a new value each 100 ms, the same in each run with the same seed.
Curve noisy(Curve course, double by, std::uint64_t seed = 1);

// Demand of the processes of a group.
struct Workload {
  Curve cpu = constant(0);        // cores
  double threads = 1e9;           // cores that they can use at the same time
  bool queues = false;            // delayed work must run later (requests); otherwise it is lost (a busy loop)
  Curve anonymous = constant(0);  // bytes, which cannot be reclaimed because there is no swap
  Curve hot_file = constant(0);   // bytes of page cache used all the time, so reclaimed pages are read again
  double streamed = 0;            // bytes per second that are read once and stay in the page cache until reclaimed
};

// The share of time in which tasks stall, in percent, as in the kernel's PSI files.
struct Pressure {
  double now = 0;  // pressure in the last period
  double avg10 = 0, avg60 = 0;
  double total_us = 0;
};

// Measured values of a group and its descendants. Rates are averages over the last advance().
struct Measured {
  double cpu_cores = 0;
  double cpu_wanted = 0;       // cores that it would use if it were alone
  double cpu_seconds = 0;      // since the start
  double throttled_ratio = 0;  // throttled periods (by its own quota) / periods in which it ran
  std::uint64_t nr_periods = 0, nr_throttled = 0;
  double backlog = 0;  // core-seconds of queued work
  Pressure cpu_some, memory_some, memory_full;
  double memory_bytes = 0;  // anonymous and page cache
  double anonymous_bytes = 0, hot_bytes = 0, cold_bytes = 0;
  double reread = 0;     // bytes per second of hot pages that had been reclaimed
  double reclaimed = 0;  // bytes since the start
  std::uint64_t oom_kills = 0;
};

struct PlantTree;

class Plant {
 public:
  struct Machine {
    unsigned cpus = 8;
    double memory_bytes = 16.0 * 1024 * 1024 * 1024;
    double disk_bytes_per_second = 500.0 * 1024 * 1024;  // speed at which reclaimed pages are read again
  };
  explicit Plant(const Machine& machine);
  ~Plant();
  Plant(const Plant&) = delete;
  Plant& operator=(const Plant&) = delete;

  // Makes a group and its missing ancestors. "" is the root, which always exists.
  void add(const std::string& dir);
  void remove(const std::string& dir);
  // Sets the group's own workload from now on. A group without a workload runs nothing itself.
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
