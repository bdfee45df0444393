// SPDX-License-Identifier: Apache-2.0
// ContainerMeter: one container's counters during its windows, and the series of their results. On the instance's
// strand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/shared/counters/cgroup_counters.hpp"
#include "plugins/shared/counters/event_set.hpp"
#include "plugins/shared/sdk/known_series.hpp"

namespace koord::performance {

struct ContainerMetrics {
  explicit ContainerMetrics(const koord_host* host);

  plugin::Metric cpi, cycles_per_instruction, llc_mpki, running_ratio, event_rate;
};

class ContainerMeter {
 public:
  // `directory`: absolute path of the cgroup in the hierarchy of perf_event.
  ContainerMeter(const koord_host* host, const ContainerMetrics& metrics, const EventSet& events, std::uint64_t handle,
                 std::string directory, std::uint64_t now_ns);

  std::uint64_t handle() const { return handle_; }
  const std::string& directory() const { return directory_; }
  const std::optional<std::uint64_t>& last_begin_ns() const { return last_begin_ns_; }
  // Returns false if its cgroup was not found in the hierarchy of perf_event at its last window.
  bool has_cgroup() const { return has_cgroup_; }
  void miss_cgroup() { has_cgroup_ = false; }
  // Returns the time since the start of the last window; before the first window, the time since the container became
  // known.
  std::uint64_t waited_ns(std::uint64_t now_ns) const { return now_ns - last_begin_ns_.value_or(known_ns_); }

  // Begins a window with these counters, or skips the window if there are no counters.
  void begin(std::uint64_t now_ns, std::optional<CgroupCounters> counters);
  bool counts() const { return counters_.has_value(); }

  // Ends the window. It reads, reports and closes the counters. Unknown values end their series. Fails if a CPU could
  // not be read.
  Result<Verdict> finish(const EventSet& events, std::uint64_t now_ns, double min_ratio, plugin::Batch& batch);

  void end_series();

 private:
  void report(const EventSet& events, const Estimate& estimate, double seconds, plugin::Batch& batch);

  std::uint64_t handle_;
  std::string directory_;
  std::uint64_t known_ns_;
  bool has_cgroup_ = true;
  std::optional<std::uint64_t> last_begin_ns_;
  std::optional<CgroupCounters> counters_;
  plugin::KnownSeries cycles_, instructions_, cycles_per_instruction_, llc_mpki_, running_ratio_;
  std::vector<plugin::KnownSeries> event_rates_;
};

}  // namespace koord::performance
