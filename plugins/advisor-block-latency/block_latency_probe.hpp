// SPDX-License-Identifier: Apache-2.0
// BlockLatencyProbe owns the programs of bpf/block_latency and reads their running totals. Its destructor unloads the
// programs. Used by one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/advisor-block-latency/block_latency.hpp"
#include "plugins/advisor-block-latency/block_rows.hpp"
#include "plugins/shared/latency/slot_programs.hpp"

namespace koord::block_latency {

inline constexpr std::array<std::string_view, 2> kSources = {"btf_tracepoint", "raw_tracepoint"};

struct BlockOptions : latency::SlotOptions {
  std::uint32_t rows = 8192;       // number of pairs of cgroup and device
  std::uint32_t requests = 16384;  // maximum number of requests at all devices
};

class BlockLatencyProbe {
 public:
  // Loads the programs. `tree`: hierarchy of the blkio controller. Fails if the kernel refuses every source. In that
  // case the error has the reason for each source.
  static Result<BlockLatencyProbe> open(const latency::CgroupTree& tree, const BlockOptions& options);

  std::string_view source() const { return programs_.source(); }
  const std::vector<latency::Refusal>& refused() const { return programs_.refused(); }

  Result<Reading> read();
  // Returns the number of requests that are in the last reading's histograms, but in no device's totals.
  std::uint64_t lost_rows() const { return lost_rows_; }

 private:
  explicit BlockLatencyProbe(latency::SlotPrograms programs)
      : programs_(std::move(programs)), rows_(programs_.map("rows"), programs_.map("lost_rows")) {}

  latency::SlotPrograms programs_;
  BlockRows rows_;
  std::uint64_t lost_rows_ = 0;
};

}  // namespace koord::block_latency
