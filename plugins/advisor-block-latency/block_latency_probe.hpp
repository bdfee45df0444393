// SPDX-License-Identifier: Apache-2.0
// BlockLatencyProbe owns the programs of bpf/block_latency while they run in the kernel and reads their running totals;
// the programs leave the kernel with it. Used by one thread at a time.
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
  std::uint32_t rows = 8192;       // cgroups times the devices each of them uses
  std::uint32_t requests = 16384;  // that devices may have at once
};

class BlockLatencyProbe {
 public:
  // `tree`: of the blkio controller. Fails when the kernel refuses every source; the text then has the reason of each.
  static Result<BlockLatencyProbe> open(const latency::CgroupTree& tree, const BlockOptions& options);

  std::string_view source() const { return programs_.source(); }
  const std::vector<latency::Refusal>& refused() const { return programs_.refused(); }

  Result<Reading> read();
  // Requests that are in the last reading's histograms and in no device's totals.
  std::uint64_t lost_rows() const { return lost_rows_; }

 private:
  explicit BlockLatencyProbe(latency::SlotPrograms programs)
      : programs_(std::move(programs)), rows_(programs_.map("rows"), programs_.map("lost_rows")) {}

  latency::SlotPrograms programs_;
  BlockRows rows_;
  std::uint64_t lost_rows_ = 0;
};

}  // namespace koord::block_latency
