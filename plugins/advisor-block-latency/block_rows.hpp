// SPDX-License-Identifier: Apache-2.0
// BlockRows reads the totals that the programs of bpf/block_latency keep for each slot and device. The programs must
// outlive it. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>

#include "core/base/result.hpp"
#include "plugins/advisor-block-latency/block_latency.hpp"
#include "plugins/shared/latency/cgroup_slots.hpp"

namespace koord::block_latency {

class BlockRows {
 public:
  using BySlot = std::unordered_map<std::uint32_t, std::map<Device, DeviceTotals>>;

  BlockRows(int rows_map, int lost_map) : rows_map_(rows_map), lost_map_(lost_map) {}

  Result<BySlot> read() const;
  // Returns the number of requests that are in no row, because the map was full.
  Result<std::uint64_t> lost() const;
  // Removes the rows of ended cgroups. `rows`: the last reading.
  Result<void> remove(std::span<const latency::SlotOwner> ended, const BySlot& rows) const;

 private:
  int rows_map_, lost_map_;
};

}  // namespace koord::block_latency
