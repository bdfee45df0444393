// SPDX-License-Identifier: Apache-2.0
// How long threads waited for a CPU, as plain values: histograms of delays, what was added between two
// readings of running totals, and quantiles. Pure: no clock, no files, no kernel. [any thread]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace koord::sched_latency {

// Bucket 0: less than 1 µs. Bucket n: [2^(n-1), 2^n) µs. The last: everything from 2^24 µs (16.8 s) up.
inline constexpr std::size_t kBuckets = 26;

struct Histogram {
  std::uint64_t count = 0;
  std::uint64_t sum_ns = 0;
  // All zero from a source that knows only count and sum.
  std::array<std::uint64_t, kBuckets> buckets{};

  Histogram& operator+=(const Histogram& other);
  bool operator==(const Histogram&) const = default;
};

// What was added between two readings of one running total. A total that went back counts as added whole.
Histogram added(const Histogram& before, const Histogram& now);

// The delay that a share `p` of the waits did not exceed, by linear interpolation inside its bucket; the
// lower bound when that is the last, open bucket. Nothing without waits or without buckets.
std::optional<double> quantile_seconds(const Histogram& histogram, double p);
std::optional<double> mean_seconds(const Histogram& histogram);

// Every second bound, 4^n µs: fine enough to read off a graph, and half the series to store.
inline constexpr std::size_t kExportedBounds = 12;
std::vector<double> exported_bounds_seconds();
// Waits up to each of those bounds, and as the last of all.
std::vector<std::uint64_t> exported_cumulative(const Histogram& histogram);

struct CgroupTotal {
  std::uint64_t cgroup = 0;  // the inode number of its directory
  Histogram total;           // since the kernel first met it
};

// One look at all the running totals.
struct Reading {
  std::vector<CgroupTotal> cgroups;
  std::vector<CgroupTotal> ended;  // the last totals of cgroups removed since the reading before
  // Waits charged to no cgroup because no slot was free; nothing from a source that does not see the whole
  // node.
  std::optional<Histogram> unassigned;
  std::uint64_t lost_waits = 0;  // of unknown length, in no histogram
  std::uint32_t slots_used = 0;
  std::uint32_t slots = 0;  // 0: the source has no such limit
};

// Turns readings into what happened since the reading before.
class Windows {
 public:
  void advance(const Reading& reading);

  // Nothing waited: an empty histogram.
  const Histogram& of(std::uint64_t cgroup) const;
  // All cgroups and the unassigned; nothing when the source does not see the whole node.
  const std::optional<Histogram>& node() const { return node_; }

 private:
  using ByCgroup = std::unordered_map<std::uint64_t, Histogram>;

  void take(const CgroupTotal& now, ByCgroup* totals);

  ByCgroup totals_;
  ByCgroup added_;
  std::optional<Histogram> unassigned_;
  std::optional<Histogram> node_;
};

}  // namespace koord::sched_latency
