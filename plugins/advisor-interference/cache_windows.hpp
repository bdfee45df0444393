// SPDX-License-Identifier: Apache-2.0
// Windows of containers for the analysis of caches, from the totals of their counters. Pure. Used by one thread at a
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/analysis/cache_analysis.hpp"
#include "core/base/result.hpp"
#include "plugins/advisor-interference/container_cgroups.hpp"
#include "plugins/shared/counters/estimate.hpp"

namespace koord::interference {

// Totals of a container since its counters were opened, one group for each CPU. The events of a group are cycles,
// instructions and, at the index llc_misses() of the source, misses of the last-level cache.
struct CounterTotals {
  std::uint64_t handle = 0;
  std::vector<performance::GroupReading> groups;
};

// Reads counters of containers. The plugin's only source is PerfCounters.
class CounterSource {
 public:
  virtual ~CounterSource() = default;

  // Returns the totals of the containers that have counters. `seconds`: time since the last reading. A container that
  // was not in the last reading starts now.
  virtual Result<std::vector<CounterTotals>> read(const std::vector<KnownContainer>& containers, double seconds) = 0;
  // Index of the event; nullopt: the node does not count misses.
  virtual std::optional<std::size_t> llc_misses() const = 0;
};

class CacheWindows {
 public:
  // `llc_misses`: index of the event in a group.
  explicit CacheWindows(std::optional<std::size_t> llc_misses) : llc_misses_(llc_misses) {}

  // Returns the subjects in the order of `containers`. `seconds`: length of the window, > 0.
  std::vector<analysis::CacheSubject> next(const std::vector<KnownContainer>& containers,
                                           std::vector<CounterTotals> totals, double seconds);

  // Returns whether containers ran in the last window, but none had hardware counters, because other processes use
  // them.
  bool are_counters_taken() const { return is_any_without_counters_ && !is_any_counted_; }
  bool is_any_counted() const { return is_any_counted_; }

 private:
  analysis::CacheWindow window_of(std::uint64_t handle, const CounterTotals* totals, double seconds);

  std::optional<std::size_t> llc_misses_;
  std::unordered_map<std::uint64_t, CounterTotals> before_;
  bool is_any_counted_ = false, is_any_without_counters_ = false;
};

}  // namespace koord::interference
