// SPDX-License-Identifier: Apache-2.0
// The groups of a Plant with the model's state of each; only for plant*.cpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/cpu_set.hpp"
#include "test/support/plant.hpp"

namespace koord::test {

inline constexpr double kPeriodSeconds = 0.1;
inline constexpr double kNothing = 1e-9;  // a smaller value is a rounding error
inline constexpr double kNoLimit = 1e300;

struct PlantGroup {
  std::string dir;
  PlantGroup* parent = nullptr;
  std::vector<std::unique_ptr<PlantGroup>> children;
  bool runs = false;
  Workload workload;

  // Knobs.
  double weight = 100;
  bool idle = false;
  double quota_us = kNoLimit, period_us = 100'000, burst_us = 0;
  CpuSet cpus;  // empty: the parent's CPUs
  double memory_min = 0, memory_low = 0, memory_high = kNoLimit, memory_max = kNoLimit;

  // CPU of this period, in core-seconds.
  std::vector<char> allowed;      // index: CPU; within the CPUs of its ancestors
  double sought = 0;              // demand of its own threads with unlimited CPUs
  double want = 0, left = 0;      // demand of it and its descendants, and the part not yet met
  double budget = 0, unused = 0;  // parts of the quota: left in this period, and unused in the last period
  double backlog = 0;             // amount of queued work

  // Memory of the group and its descendants, in bytes.
  double anonymous = 0, hot = 0, cold = 0;
  double evicted = 0;                 // hot pages that were reclaimed and not read again yet
  double restarts_at = 0;             // time of the restart after an OOM kill
  double memory_stall = 0;            // stalled share of this period
  double kept_min = 0, kept_low = 0;  // effective protection

  Measured measured;
  // Sums since the start of the last advance().
  double got_sum = 0, want_sum = 0, reread_sum = 0;
  std::uint64_t periods_before = 0, throttled_before = 0;

  double usage() const { return anonymous + hot + cold; }
};

struct PlantTree {
  PlantGroup root;
  std::map<std::string, PlantGroup*> by_dir;
  bool cpusets_changed = true;

  PlantGroup& at(const std::string& dir) const;
};

// Calls `visit` for each group, children before parents.
template <class Visit>
void from_the_leaves(PlantGroup& group, const Visit& visit) {
  for (auto& child : group.children) from_the_leaves(*child, visit);
  visit(group);
}

// Each simulates one period, which begins at `now`.
void run_cpus(PlantTree& tree, const Plant::Machine& machine, double now);
void run_memory(PlantTree& tree, const Plant::Machine& machine, double now);

// Reclaims up to this many bytes of page cache from the group. Returns the bytes reclaimed.
double reclaim(PlantGroup& group, double bytes);

void update(Pressure& pressure, double share);

void set_knob(PlantGroup& group, std::string_view knob, std::string_view value);
std::string get_knob(const PlantGroup& group, std::string_view knob);

}  // namespace koord::test
