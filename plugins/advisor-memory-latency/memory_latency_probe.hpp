// SPDX-License-Identifier: Apache-2.0
// MemoryLatencyProbe owns the programs of bpf/memory_latency and reads their running totals. Its destructor unloads the
// programs. Used by one thread at a time.
#pragma once

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/advisor-memory-latency/memory_latency.hpp"
#include "plugins/shared/latency/slot_programs.hpp"

namespace koord::memory_latency {

// Sources, the cheaper one first.
inline constexpr std::array<std::string_view, 2> kSources = {"task_storage", "raw_tracepoint"};

class MemoryLatencyProbe {
 public:
  // Loads the programs. `tree`: hierarchy of the memory controller. Fails if the kernel refuses every source. In that
  // case the error has the reason for each source.
  static Result<MemoryLatencyProbe> open(const latency::CgroupTree& tree, const latency::SlotOptions& options);

  std::string_view source() const { return programs_.source(); }
  const std::vector<latency::Refusal>& refused() const { return programs_.refused(); }

  Result<Reading> read();

 private:
  explicit MemoryLatencyProbe(latency::SlotPrograms programs) : programs_(std::move(programs)) {}

  latency::SlotPrograms programs_;
};

}  // namespace koord::memory_latency
