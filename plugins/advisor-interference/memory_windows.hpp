// SPDX-License-Identifier: Apache-2.0
// MemoryWindows: windows of containers for the analysis of memory, from files of their cgroups and the counts of the
// programs. It reads the files only while the node has so many refaults that a container may be harmed. Used by one
// thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/analysis/io_analysis.hpp"
#include "core/analysis/memory_analysis.hpp"
#include "core/cgroup/layout.hpp"
#include "plugins/advisor-interference/container_cgroups.hpp"
#include "plugins/advisor-interference/memory_blame.hpp"

namespace koord::interference {

// Pages that the threads of each container freed in a window, by the container's handle; 0: outside of all containers.
using FreedByContainer = std::unordered_map<std::uint64_t, FreedPages>;

FreedByContainer freed_by_container(const latency::Windows<FreedPages>& windows,
                                    const latency::Reading<FreedPages>& reading, const ContainerOfCgroup& container_of);

class MemoryWindows {
 public:
  // `proc`: the directory /proc.
  MemoryWindows(cgroup::Layout layout, std::string proc) : layout_(std::move(layout)), proc_(std::move(proc)) {}

  // Sets the smallest refault time that counts as harm (MemoryRule). Files are read from half of this time on.
  void set_least_refault_time(double seconds_per_second) { least_refault_time_ = seconds_per_second; }

  // Returns the subjects in the order of `containers`. `io`: windows of the same containers in the same order; their
  // reads give the cost of a refault. `seconds`: length of the window, > 0.
  std::vector<analysis::MemorySubject> next(const std::vector<KnownContainer>& containers,
                                            const std::vector<analysis::IoSubject>& io, const FreedByContainer& freed,
                                            double seconds);

 private:
  double least_refault_time_ = analysis::MemoryRule().refault_time;

  // A running total in this window and in the previous window.
  struct Counter {
    std::uint64_t now = 0, before = 0;
    int read_in = -1;
  };
  struct Memory {
    double usage = 0, growth = 0, refaults = 0;
  };

  // Returns the increase since the last window; 0 if the value was not read in the last window. `value` is nullopt if
  // the file is missing.
  double added_to(const std::string& name, std::optional<std::uint64_t> value);
  bool is_worth_reading(const std::vector<analysis::IoSubject>& io, double seconds);
  Memory memory_of(const KnownContainer& container, double seconds);
  bool met_limit(const std::string& cgroup);
  // Returns the limit that was reached and, for a limit above the container, the nearest cgroup that reached it.
  std::pair<analysis::MemoryLimit, std::string> limit_of(const std::string& cgroup);
  std::vector<analysis::MemorySharer> sharers_below(const std::string& cgroup,
                                                    const std::vector<KnownContainer>& containers,
                                                    const FreedByContainer& freed, double seconds) const;

  cgroup::Layout layout_;
  std::string proc_;
  int window_ = 0;
  bool is_node_short_ = false;
  std::unordered_map<std::string, Counter> counters_;
  std::unordered_map<std::uint64_t, Memory> memory_;  // values of this window; key: handle
  std::unordered_map<std::string, bool> met_;         // values of this window; key: cgroup
};

}  // namespace koord::interference
