// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-block-latency/block_latency_probe.hpp"

#include "bpf/block_latency/block_latency.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"  // code that bpftool generates cannot be changed
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "bpf/block_latency/block_latency.skel.h"
#pragma GCC diagnostic pop

namespace koord::block_latency {
namespace {

std::vector<latency::ProgramSource> sources() {
  return {{kSources[0], {"on_cgroup_rmdir", "on_issue", "on_complete"}, {}},
          {kSources[1], {"raw_on_cgroup_rmdir", "raw_on_issue", "raw_on_complete"}, {}}};
}

Requests requests_in(const latency::CgroupSlots& slots, const BlockRows::BySlot& rows, std::uint32_t slot) {
  Requests requests;
  for (Operation direction : kDirections)
    requests.latency_of(direction) = slots.total(slot, static_cast<std::uint32_t>(direction));
  if (const auto of_slot = rows.find(slot); of_slot != rows.end()) requests.devices = of_slot->second;
  return requests;
}

}  // namespace

Result<BlockLatencyProbe> BlockLatencyProbe::open(const latency::CgroupTree& tree, const BlockOptions& options) {
  latency::SlotObject object{.kinds = BLOCK_HISTOGRAMS,
                             .map_entries = {{"issued_requests", options.requests}, {"rows", options.rows}}};
  object.file.name = "block_latency";
  object.file.bytes = block_latency__elf_bytes(&object.file.size);
  return BlockLatencyProbe(TRY(latency::SlotPrograms::open_first(object, sources(), tree, options)));
}

Result<Reading> BlockLatencyProbe::read() {
  latency::CgroupSlots& slots = programs_.slots();
  TRY(slots.refresh());
  const BlockRows::BySlot rows = TRY(rows_.read());
  lost_rows_ = TRY(rows_.lost());
  Reading reading =
      latency::reading_of<Requests>(programs_, [&](std::uint32_t slot) { return requests_in(slots, rows, slot); });
  TRY(rows_.remove(slots.ended(), rows));
  TRY(slots.free_ended());
  return reading;
}

}  // namespace koord::block_latency
