// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-block-latency/block_rows.hpp"

#include <bpf/bpf.h>

#include <cerrno>
#include <numeric>
#include <vector>

#include "bpf/block_latency/block_latency.h"
#include "plugins/shared/bpf/programs.hpp"

namespace koord::block_latency {
namespace {

static_assert(static_cast<int>(Operation::read) == BLOCK_READ);
static_assert(static_cast<int>(Operation::write) == BLOCK_WRITE);
static_assert(static_cast<int>(Operation::other) == BLOCK_OTHER);
static_assert(kOperations.size() == BLOCK_OPERATIONS);
static_assert(kDirections.size() == BLOCK_HISTOGRAMS);
static_assert(sizeof(block_row_key) == 8);
static_assert(sizeof(block_row) == 8 * 4 * BLOCK_OPERATIONS);

DeviceTotals totals_in(const block_row& row) {
  DeviceTotals totals;
  for (std::size_t i = 0; i < kOperations.size(); ++i) {
    const block_operation_totals& operation = row.operations[i];
    totals.by_operation[i] = {operation.requests, operation.bytes, operation.device_ns, operation.queue_ns};
  }
  return totals;
}

}  // namespace

// Iterates over the keys. Rows are removed only in this class, so no key disappears during the iteration.
Result<BlockRows::BySlot> BlockRows::read() const {
  BySlot rows;
  block_row_key key{};
  block_row row{};
  const block_row_key* before = nullptr;
  while (bpf_map_get_next_key(rows_map_, before, &key) == 0) {
    if (bpf_map_lookup_elem(rows_map_, &key, &row) == 0) rows[key.slot][Device{key.device}] = totals_in(row);
    before = &key;
  }
  if (errno != ENOENT) return system_error(errno, "cannot read the totals of devices");
  return rows;
}

Result<std::uint64_t> BlockRows::lost() const {
  std::vector<std::uint64_t> each(TRY(bpf::possible_cpus()));
  const std::uint32_t zero = 0;
  if (bpf_map_lookup_elem(lost_map_, &zero, each.data()) != 0)
    return system_error(errno, "cannot read the number of requests without totals");
  return std::accumulate(each.begin(), each.end(), std::uint64_t{0});
}

Result<void> BlockRows::remove(std::span<const latency::SlotOwner> ended, const BySlot& rows) const {
  for (const latency::SlotOwner& owner : ended) {
    const auto of_slot = rows.find(owner.slot);
    if (of_slot == rows.end()) continue;
    for (const auto& [device, totals] : of_slot->second) {
      const block_row_key key{owner.slot, device.number};
      if (bpf_map_delete_elem(rows_map_, &key) != 0 && errno != ENOENT)
        return system_error(errno, "cannot remove the totals of a device");
    }
  }
  return {};
}

}  // namespace koord::block_latency
